#include "decomposition/even_sample.hpp"

#include <algorithm>
#include <numeric>

namespace tessera::decomposition {
namespace {

/// Of the windows at `corner` those that are dealt to the first of batches of `n`.
std::vector<int> evenly(std::span<const Pixel> corner, int n, std::uint64_t seed) {
  std::vector<int> all(corner.size());
  std::iota(all.begin(), all.end(), 0);
  const BatchSchedule dealt(std::move(all), corner, n, BatchOrder::spread, seed);
  const std::span<const int> first = dealt.batch(0);
  return {first.begin(), first.end()};
}

}  // namespace

std::vector<bool> even_sample(const BatchSchedule& schedule, std::span<const Pixel> corner,
                              int fewest, std::uint64_t seed) {
  const int thinning = std::clamp(schedule.max_in_batch() / fewest, 1, thinnest_sample);
  if (thinning == 1 || !schedule.fixed_members()) return {};
  std::vector<bool> is_in(corner.size(), false);
  std::vector<Pixel> of_batch;
  for (int id = 0; id < schedule.n_batches(); ++id) {
    const std::span<const int> members = schedule.batch(id);
    of_batch.clear();
    for (const int position : members) of_batch.push_back(corner[position]);
    const int n = static_cast<int>(members.size());
    for (const int i : evenly(of_batch, (n + thinning - 1) / thinning, seed))
      is_in[static_cast<std::size_t>(members[i])] = true;
  }
  return is_in;
}

}  // namespace tessera::decomposition
