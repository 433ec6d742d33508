#include "decomposition/held_out.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tessera/base/error.hpp"
#include "tessera/base/random.hpp"
#include "tessera/base/text.hpp"
#include "tessera/decomposition/batch_schedule.hpp"

namespace tessera::decomposition {

std::vector<bool> held_out_positions(int n_positions, double fraction, std::uint64_t seed) {
  std::vector<bool> held_out(static_cast<std::size_t>(n_positions), false);
  if (fraction == 0) return held_out;
  const int n_held_out = std::max(1, static_cast<int>(std::lround(fraction * n_positions)));
  if (n_held_out >= n_positions)
    throw InputError(text("validation.fraction = ", fraction, " holds out ", n_held_out, " of ",
                          n_positions,
                          " positions and leaves none to fit; lower it, or set it to 0"));
  std::vector<int> by_hash(held_out.size());
  std::iota(by_hash.begin(), by_hash.end(), 0);
  std::nth_element(by_hash.begin(), by_hash.begin() + n_held_out, by_hash.end(), [&](int i, int j) {
    return random_bits(seed, static_cast<std::uint64_t>(i)) <
           random_bits(seed, static_cast<std::uint64_t>(j));
  });
  for (int i = 0; i < n_held_out; ++i) held_out[static_cast<std::size_t>(by_hash[i])] = true;
  return held_out;
}

std::vector<bool> second_half(std::span<const Pixel> corner, std::uint64_t seed) {
  std::vector<int> all(corner.size());
  std::iota(all.begin(), all.end(), 0);
  const BatchSchedule neighbours(all, corner, 2, BatchOrder::compact, seed);
  std::vector<bool> is_second(corner.size());
  for (int pair = 0; pair < neighbours.n_batches(); ++pair) {
    bool second = (random_bits(seed, static_cast<std::uint64_t>(pair)) & 1) != 0;
    for (const int position : neighbours.batch(pair)) {
      is_second[static_cast<std::size_t>(position)] = second;
      second = !second;
    }
  }
  return is_second;
}

}  // namespace tessera::decomposition
