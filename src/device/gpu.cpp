#include "tessera/device/gpu.hpp"

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "tessera/base/text.hpp"

namespace tessera::device {
namespace {

std::string gib(std::int64_t n_bytes) {
  const double tenths = std::round(10 * static_cast<double>(n_bytes) / (1 << 30));
  return text(tenths / 10, " GiB");
}

}  // namespace

int gpu_index(int local_rank, int n_visible) {
  return local_rank % n_visible;
}

std::optional<std::string> shared_gpu(const std::vector<Seat>& seats) {
  std::map<std::pair<std::string, std::string>, std::size_t> first_rank;
  for (std::size_t rank = 0; rank < seats.size(); ++rank) {
    const Seat& seat = seats[rank];
    const auto [found, is_new] = first_rank.try_emplace({seat.host, seat.gpu_uuid}, rank);
    if (is_new) continue;
    std::set<std::string> gpus;
    int n_ranks = 0;
    for (const Seat& other : seats) {
      if (other.host != seat.host) continue;
      ++n_ranks;
      gpus.insert(other.gpu_uuid);
    }
    return text("ranks ", found->second, " and ", rank, " are on the same GPU (", seat.gpu_uuid,
                "): on host ", seat.host, ' ', n_ranks, " ranks see ", gpus.size(),
                gpus.size() == 1 ? " GPU" : " GPUs", "; start at most ", gpus.size(),
                " there, make more visible (CUDA_VISIBLE_DEVICES, the scheduler), or set "
                "run.share_gpu = true");
  }
  return {};
}

std::string description(const Gpu& gpu) {
  const std::string node = gpu.numa_node < 0 ? "unknown" : text(gpu.numa_node);
  return text("GPU ", gpu.index, ' ', gpu.name, ", ", gib(gpu.total_bytes), ", ",
              gib(gpu.free_bytes), " free, NUMA node ", node, ", NVLink to ", gpu.n_nvlink_peers,
              " of ", gpu.n_visible - 1, " others in sight");
}

std::vector<std::string> gpu_lines(const std::vector<Seat>& seats,
                                   const std::vector<std::string>& names,
                                   const std::vector<std::string>& descriptions) {
  constexpr std::size_t max_lines = 16;
  std::vector<std::string> lines;
  if (seats.size() <= max_lines) {
    for (std::size_t rank = 0; rank < seats.size(); ++rank)
      lines.push_back(text("rank ", rank, " on ", seats[rank].host, ": ", descriptions[rank]));
    return lines;
  }
  struct Kind {
    int n_ranks = 0;
    std::set<std::string> hosts;
  };
  std::map<std::string, Kind> kinds;
  for (std::size_t rank = 0; rank < seats.size(); ++rank) {
    Kind& kind = kinds[names[rank]];
    ++kind.n_ranks;
    kind.hosts.insert(seats[rank].host);
  }
  for (const auto& [name, kind] : kinds)
    lines.push_back(text(kind.n_ranks, " ranks on ", kind.hosts.size(),
                         kind.hosts.size() == 1 ? " host: " : " hosts: ", name));
  return lines;
}

}  // namespace tessera::device
