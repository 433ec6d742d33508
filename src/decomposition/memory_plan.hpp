#pragma once
/// What a rank will hold on its device and on its host, added up before anything is allocated, and
/// where its patterns can stay. Pure: no memory is asked for here.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera::decomposition {

struct MemoryItem {
  std::string name;
  std::int64_t bytes = 0;
};

std::int64_t total_bytes(const std::vector<MemoryItem>& items);

/// What one rank needs. The items hold everything but patterns.
struct MemoryNeeds {
  std::vector<MemoryItem> device;
  std::vector<MemoryItem> host;
  std::int64_t n_patterns = 0;        ///< of this rank
  std::int64_t n_chunk_patterns = 0;  ///< most that are computed together
  std::int64_t pattern_bytes = 0;     ///< of one
  std::int64_t file_chunk_bytes = 0;  ///< what a read from the file decodes at a time
};

struct MemoryLimits {
  std::int64_t device_bytes = 0;
  std::int64_t host_bytes = 0;
  /// The device's arrays lie in host memory: both together must stay within host_bytes.
  bool one_memory = false;
};

/// Where the patterns are during the run, best first.
enum class PatternsIn {
  device,       ///< all on the device
  host_memory,  ///< in pinned host memory; two chunks on the device
  file          ///< in the file; two chunks on the host and two on the device
};

/// Every array of a rank.
struct MemoryPlan {
  PatternsIn patterns = PatternsIn::device;
  std::vector<MemoryItem> device;
  std::vector<MemoryItem> host;
};

MemoryPlan plan_memory(const MemoryNeeds& needs, PatternsIn patterns);
bool fits(const MemoryPlan& plan, const MemoryLimits& limits);
/// The best place that fits; none if not even the file does.
std::optional<PatternsIn> best_place(const MemoryNeeds& needs, const MemoryLimits& limits);

/// A number of ranks in (n_ranks, most] at which everything fits, as few as bisection finds.
/// @param fits_on asked for some numbers of ranks
std::optional<int> ranks_that_fit(int n_ranks, int max, const std::function<bool(int)>& fits_on);

/// How well needs are known.
enum class Known { exactly, at_least };

/// Why nothing fits: bytes needed, bytes there, and what would do.
/// @param enough_ranks from ranks_that_fit
std::string too_little_memory(const MemoryNeeds& needs, const MemoryLimits& limits,
                              std::optional<int> enough_ranks, Known known);

/// "8.59 GB"
std::string bytes_text(std::int64_t bytes);

}  // namespace tessera::decomposition
