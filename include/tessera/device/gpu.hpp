#pragma once
/// The GPU of a rank. Without CUDA in the build there is none, and nothing here asks for one.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::device {

struct Gpu {
  int index = 0;  ///< among the GPUs that this process sees
  std::string name;
  std::string uuid;
  std::string pci_bus_id;  ///< as in /sys/bus/pci/devices
  std::int64_t total_bytes = 0;
  std::int64_t free_bytes = 0;
  std::int64_t cache_bytes = 0;  ///< of the cache that all multiprocessors share
  int numa_node = -1;            ///< -1: the system does not say
  int compute_capability = 0;    ///< 90 is 9.0
  int n_visible = 0;             ///< GPUs that this process sees, this one too
  int n_nvlink_peers = 0;        ///< of the others that it sees
};

/// Why this program cannot run here: no GPU, no driver, or one that is too old, with the remedy.
/// Nothing where there is a GPU, and in a build for hosts.
/// @throws SystemError if CUDA fails otherwise
std::optional<std::string> missing_gpu();

/// The GPU of this `local_rank`, made the current one of this thread; none in a build for hosts.
/// @throws SystemError with the reason of `missing_gpu`, or CUDA's own
std::optional<Gpu> use_gpu(int local_rank);

/// Versions of CUDA in the program and in the driver, or that this build has no GPUs.
std::string gpu_versions();

// The rest is the rule and its words; no GPU is asked.

/// Ranks of a host take the GPUs that they see in turn: rank r of `n_visible` has r modulo
/// `n_visible`. A scheduler that shows each task a GPU of its own is served too; whether two ranks
/// met on one GPU only `shared_gpu` can tell.
int gpu_index(int local_rank, int n_visible);

/// Where a rank is; the index in a list is its rank.
struct Seat {
  std::string host;
  std::string gpu_uuid;
};

/// What to say if two ranks are on one GPU of one host; nothing if all have their own.
std::optional<std::string> shared_gpu(const std::vector<Seat>& seats);

/// One line: index, name, memory, NUMA node, NVLink.
std::string description(const Gpu& gpu);

/// A line for each rank; of more than 16 one for each kind of GPU, with how many ranks have it.
/// @param names, descriptions of the ranks' GPUs
std::vector<std::string> gpu_lines(const std::vector<Seat>& seats,
                                   const std::vector<std::string>& names,
                                   const std::vector<std::string>& descriptions);

}  // namespace tessera::device
