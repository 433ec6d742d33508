#include "decomposition/memory_plan.hpp"

#include <algorithm>
#include <array>
#include <iomanip>
#include <sstream>

#include "tessera/base/text.hpp"

namespace tessera::decomposition {
namespace {

constexpr std::array places{PatternsIn::device, PatternsIn::host_memory, PatternsIn::file};

const MemoryItem& largest(const std::vector<MemoryItem>& items) {
  return *std::max_element(
      items.begin(), items.end(),
      [](const MemoryItem& a, const MemoryItem& b) { return a.bytes < b.bytes; });
}

}  // namespace

std::int64_t total_bytes(const std::vector<MemoryItem>& items) {
  std::int64_t total = 0;
  for (const MemoryItem& item : items) total += item.bytes;
  return total;
}

MemoryPlan plan_memory(const MemoryNeeds& needs, PatternsIn patterns) {
  MemoryPlan plan{patterns, needs.device, needs.host};
  const std::int64_t all = needs.n_patterns * needs.pattern_bytes;
  const std::int64_t two_chunks =
      2 * std::min(needs.n_chunk_patterns, needs.n_patterns) * needs.pattern_bytes;
  if (patterns == PatternsIn::device) {
    plan.device.push_back({"patterns", all});
    return plan;
  }
  plan.device.push_back({"patterns of two chunks", two_chunks});
  if (patterns == PatternsIn::host_memory) {
    plan.host.push_back({"patterns", all});
  } else {
    plan.host.push_back({"patterns of two chunks", two_chunks});
    plan.host.push_back({"patterns as read", needs.file_chunk_bytes});
  }
  return plan;
}

bool fits(const MemoryPlan& plan, const MemoryLimits& limits) {
  const std::int64_t device = total_bytes(plan.device);
  const std::int64_t host = total_bytes(plan.host);
  return device <= limits.device_bytes &&
         host + (limits.one_memory ? device : 0) <= limits.host_bytes;
}

std::optional<PatternsIn> best_place(const MemoryNeeds& needs, const MemoryLimits& limits) {
  const auto found = std::find_if(places.begin(), places.end(), [&](PatternsIn place) {
    return fits(plan_memory(needs, place), limits);
  });
  if (found == places.end()) return {};
  return *found;
}

std::optional<int> ranks_that_fit(int n_ranks, int max, const std::function<bool(int)>& fits_on) {
  int too_few = n_ranks;
  int enough = n_ranks;
  do {
    if (enough >= max) return {};
    too_few = enough;
    enough = enough > max / 2 ? max : 2 * enough;
  } while (!fits_on(enough));
  while (enough - too_few > 1) {
    const int middle = too_few + (enough - too_few) / 2;
    (fits_on(middle) ? enough : too_few) = middle;
  }
  return enough;
}

std::string too_little_memory(const MemoryNeeds& needs, const MemoryLimits& limits,
                              std::optional<int> enough_ranks, Known known) {
  const MemoryPlan min = plan_memory(needs, PatternsIn::file);
  const std::int64_t device = total_bytes(min.device);
  const std::int64_t host = total_bytes(min.host);
  const std::string need =
      limits.one_memory
          ? text(bytes_text(device + host), " of memory, ", bytes_text(device),
                 " of it for the device's arrays, but may take ", bytes_text(limits.host_bytes),
                 " and ", bytes_text(limits.device_bytes))
          : text(bytes_text(device), " of device and ", bytes_text(host),
                 " of host memory but may take ", bytes_text(limits.device_bytes), " and ",
                 bytes_text(limits.host_bytes));
  const MemoryItem& max = largest(min.device);
  const char* at_least = known == Known::at_least ? "at least " : "";
  const std::string remedy =
      enough_ranks
          ? text("start ", at_least, *enough_ranks, " ranks with as much memory for each")
          : text("no number of ranks would do; take fewer probe modes or smaller patterns");
  return text("with its patterns left in the file a rank needs ", at_least, need,
              " (the most for: ", max.name, ", ", bytes_text(max.bytes), "); ", remedy,
              ", or raise run.device_memory_bytes or run.host_memory_bytes if they are set");
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<const char*, 5> units{"bytes", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < units.size(); ++unit) value /= 1000;
  std::ostringstream out;
  out << std::setprecision(3) << value << ' ' << units[unit];
  return out.str();
}

}  // namespace tessera::decomposition
