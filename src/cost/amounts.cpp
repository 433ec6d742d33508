#include "cost/amounts.hpp"

#include <algorithm>

namespace tessera::cost {
namespace {

/// A device that keeps windows on the chip takes `at_once` waves in each turn; the last turn takes
/// as long as a whole one, and a chunk fills and empties the chip, one turn more. Fewer than
/// `at_least` waves are taken by other kernels.
void add_waves(int n, int chunks, const BatchShape& shape, Amounts& amounts) {
  const int n_waves = n * shape.n_modes;
  if (shape.at_once == 1) {
    amounts.waves = n_waves;
  } else if (n_waves < shape.at_least * chunks) {
    amounts.few_waves = n_waves;
  } else {
    const int turns = (n_waves + shape.at_once - 1) / shape.at_once + chunks;
    (shape.n_modes > 1 ? amounts.waves_of_modes : amounts.waves) = 1.0 * turns * shape.at_once;
  }
}

/// Of a chunk's part of the object, what the cache does not hold while windows add to it.
double far_part(const BatchWork& work, const BatchShape& shape) {
  if (shape.cached_px <= 0) return 0;
  const int chunks = std::max(1, work.border_chunks + work.interior_chunks);
  const double of_chunk = static_cast<double>(work.touched_px) * shape.n_planes / chunks;
  return std::max(0.0, 1 - shape.cached_px / std::max(1.0, of_chunk));
}

}  // namespace

Amounts& Amounts::operator+=(const Amounts& other) {
  for (const auto& [amount, rate] : priced) this->*amount += other.*amount;
  return *this;
}

double seconds(const Amounts& amounts, const WindowRates& rates) {
  double sum = 0;
  for (const auto& [amount, rate] : priced) sum += amounts.*amount * rates.*rate;
  return sum;
}

BatchAmounts amounts_of(const BatchWork& work, const BatchShape& shape) {
  const int n = work.border + work.interior;
  const int enough = std::min(shape.at_once, shape.at_least);  // as ChipShifts::pay has it
  const bool on_chip = shape.at_once > 1 && work.many_shifts && n * shape.n_modes >= enough;
  const double far = far_part(work, shape);
  const auto positions = [&](int some, int chunks) {
    Amounts amounts;
    if (some == 0) return amounts;
    const double waves = static_cast<double>(some) * shape.n_modes;
    if (shape.at_once == 1) amounts.positions = some;
    add_waves(some, chunks, shape, amounts);
    amounts.far_waves = far * waves;
    if (on_chip)
      amounts.chip_shifts = waves;
    else
      amounts.shifts = static_cast<double>(work.shifts) * some / n * shape.n_modes;
    return amounts;
  };
  return {.border = positions(work.border, work.border_chunks),
          .interior = positions(work.interior, work.interior_chunks),
          .updates = {.touched_px = static_cast<double>(work.touched_px) * shape.n_planes,
                      .batch_modes = static_cast<double>(shape.n_modes)}};
}

}  // namespace tessera::cost
