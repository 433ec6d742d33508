# The program for processors. Never built. From the project's folder:
#   docker build -t tessera -f cluster/containers/cpu.Dockerfile .
#   docker run --rm -v "$PWD:/work" tessera reconstruct my_scan.toml
FROM debian:12
COPY . /src
WORKDIR /src
RUN ./dev packages \
 && cmake --preset default -D TESSERA_NATIVE=OFF -D TESSERA_BUILD_TESTS=OFF \
 && cmake --build build --target all \
 && cmake --install build --prefix /usr/local \
 && rm -rf build /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["tessera"]
