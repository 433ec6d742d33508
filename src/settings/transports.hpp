#pragma once
/// How bytes can travel between ranks: the list of all transports, the usually slowest first. What
/// each does stands in src/halo/transport_<name>.cpp, which the build finds.

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace tessera::settings {

struct HostMpi {
  static constexpr std::string_view name = "host_mpi";
};
struct GpuMpi {
  static constexpr std::string_view name = "gpu_mpi";
};
struct Nccl {
  static constexpr std::string_view name = "nccl";
};

using Transports = std::tuple<HostMpi, GpuMpi, Nccl>;

/// "auto", then the names.
inline std::vector<std::string> transport_choices() {
  return std::apply(
      [](auto... transport) {
        return std::vector<std::string>{"auto", std::string(transport.name)...};
      },
      Transports());
}

}  // namespace tessera::settings
