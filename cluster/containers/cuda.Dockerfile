# The program for NVIDIA GPUs. Never built. From the project's folder, 80 for A100, 90 for H100 and H200:
#   docker build -t tessera-cuda --build-arg ARCH=90 --build-arg KOKKOS_ARCH=HOPPER90 -f cluster/containers/cuda.Dockerfile .
#   docker run --rm --gpus all -v "$PWD:/work" tessera-cuda reconstruct my_scan.toml
FROM nvidia/cuda:12.6.3-devel-ubuntu24.04
ARG ARCH=90
ARG KOKKOS_ARCH=HOPPER90
COPY . /src
WORKDIR /src
RUN ./dev packages && apt-get install -y --no-install-recommends git ca-certificates
# As README.md of cluster/ has it.
RUN git clone --depth 1 --branch 4.6.01 https://github.com/kokkos/kokkos /kokkos \
 && cmake -S /kokkos -B /kokkos/build -G Ninja -D CMAKE_INSTALL_PREFIX=/opt/kokkos -D CMAKE_BUILD_TYPE=Release \
      -D CMAKE_CXX_STANDARD=20 -D CMAKE_CXX_EXTENSIONS=OFF -D Kokkos_ENABLE_CUDA=ON -D Kokkos_ENABLE_SERIAL=ON \
      -D Kokkos_ARCH_$KOKKOS_ARCH=ON -D Kokkos_ENABLE_IMPL_CUDA_MALLOC_ASYNC=OFF \
      -D Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE=ON -D CMAKE_CUDA_FLAGS=-std=c++20 \
 && cmake --build /kokkos/build && cmake --install /kokkos/build && rm -rf /kokkos
RUN Kokkos_ROOT=/opt/kokkos cmake --preset cuda -D CMAKE_CUDA_ARCHITECTURES=$ARCH -D TESSERA_BUILD_TESTS=OFF \
 && cmake --build build-cuda --target all \
 && cmake --install build-cuda --prefix /usr/local \
 && rm -rf build-cuda /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["tessera"]
