#include "decomposition/even_sample.hpp"

#include <algorithm>

#include "tessera/decomposition/batch_schedule.hpp"

namespace tessera::decomposition {

std::vector<bool> even_sample(const std::vector<int>& positions, std::span<const Pixel> corner,
                              std::uint64_t seed) {
  // Curvatures of single positions differ by half of them: 128 are good to some 4 %, of which a
  // step loses the square.
  constexpr int fewest = 128;
  const int n = static_cast<int>(positions.size());
  const int thinning = std::clamp(n / fewest, 1, thinnest_sample);
  if (thinning == 1) return {};
  const BatchSchedule samples(positions, corner, (n + thinning - 1) / thinning, BatchOrder::spread,
                              seed);
  std::vector<bool> is_in(corner.size(), false);
  for (const int position : samples.batch(0)) is_in[static_cast<std::size_t>(position)] = true;
  return is_in;
}

}  // namespace tessera::decomposition
