from spack.package import *


class Tomlplusplus(CMakePackage):
    """TOML config file parser and serializer for C++17 (header-only)."""

    homepage = "https://marzer.github.io/tomlplusplus"
    git = "https://github.com/marzer/tomlplusplus.git"

    license("MIT")

    version("3.4.0", tag="v3.4.0", commit="30172438cee64926dc41fdd9c11fb3ba5b2ba9de")

    depends_on("cxx", type="build")
    depends_on("cmake@3.14:", type="build")
