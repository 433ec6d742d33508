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
  static constexpr bool wants_own_gpu = false;  ///< for every rank
};
struct GpuMpi {
  static constexpr std::string_view name = "gpu_mpi";
  static constexpr bool wants_own_gpu = false;
};
struct Nccl {
  static constexpr std::string_view name = "nccl";
  static constexpr bool wants_own_gpu = true;
};

struct GpuP2p {
  static constexpr std::string_view name = "gpu_p2p";
  static constexpr bool wants_own_gpu = true;
};

using Transports = std::tuple<HostMpi, GpuMpi, Nccl, GpuP2p>;

/// "auto", then the names.
inline std::vector<std::string> transport_choices() {
  return std::apply(
      [](auto... transport) {
        return std::vector<std::string>{"auto", std::string(transport.name)...};
      },
      Transports());
}

/// Whether ranks cannot share a GPU with it.
inline bool wants_own_gpu(std::string_view name) {
  return std::apply(
      [&](auto... transport) {
        return ((transport.name == name && transport.wants_own_gpu) || ...);
      },
      Transports());
}

}  // namespace tessera::settings
