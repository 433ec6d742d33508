import os

from spack.package import *


class Tessera(CMakePackage, CudaPackage):
    """Ptychography on tiles: N ranks compute what one rank computes."""

    # The checkout that this file lies in.
    git = "file://" + os.path.realpath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4))

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("double", default=False, description="Double precision, for proofs rather than work")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("hdf5@1.10:+mpi")
    depends_on("fftw@3: precision=float,double")
    depends_on("kokkos@3.4:+serial cxxstd=20")
    # CMake refuses one that allocates asynchronously: ^kokkos~alloc_async where that is a variant.
    depends_on("kokkos@4:+cuda", when="+cuda")
    depends_on("kokkos~cuda", when="~cuda")
    depends_on("nccl", when="+cuda")
    depends_on("cli11")
    depends_on("tomlplusplus")
    depends_on("fmt")
    depends_on("spdlog")
    depends_on("nlohmann-json")
    depends_on("libpng")
    depends_on("libtiff")
    depends_on("zlib-api")
    depends_on("libdeflate")
    depends_on("eigen@3")

    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
        depends_on(f"nccl cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")

    conflicts("cuda_arch=none", when="+cuda", msg="Name the GPU's architecture: cuda_arch=90")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define_from_variant("TESSERA_CUDA", "cuda"),
            self.define("TESSERA_REAL", "double" if "+double" in self.spec else "float"),
            self.define("TESSERA_NATIVE", False),  # Spack's compiler wrapper knows the target
            self.define("TESSERA_BUILD_TESTS", False),
        ]
        if "+cuda" in self.spec:
            args.append(
                self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value)
            )
        return args
