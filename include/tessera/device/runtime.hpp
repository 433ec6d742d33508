#pragma once
/// From choosing the GPU to giving it back.

#include <optional>
#include <string>
#include <thread>

#include "tessera/device/gpu.hpp"

namespace tessera::device {

/// Kokkos on the GPU of this rank, or on the host in a build for hosts. One in a program; it
/// outlives every view. Kokkos does not see the command line, only its own environment variables.
class Runtime {
 public:
  /// @param local_rank among the ranks of this host
  /// @throws SystemError if there is no GPU to use
  explicit Runtime(int local_rank);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const std::optional<Gpu>& gpu() const { return gpu_; }

 private:
  std::optional<Gpu> gpu_;
};

/// Wakes this rank's GPU beside what needs none: driver and context take a quarter of a second.
/// What goes wrong is left to Runtime to say. Waits at its end.
class EarlyStart {
 public:
  explicit EarlyStart(int local_rank);
  ~EarlyStart();
  EarlyStart(const EarlyStart&) = delete;
  EarlyStart& operator=(const EarlyStart&) = delete;

 private:
  std::thread thread_;
};

/// Kokkos' words on a failed allocation, wherever they stand in `message`, become one sentence with
/// bytes, array and remedy; every other message comes back as it is.
std::string short_of_memory(const std::string& message);

}  // namespace tessera::device
