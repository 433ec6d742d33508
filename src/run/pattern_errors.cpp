#include "pattern_errors.hpp"

#include <algorithm>

namespace tessera::run {

using physics::FigureSums;

PatternErrors::PatternErrors(std::size_t n_positions, int chunk_size)
    : sums_("tessera::run::errors_of_each", chunk_size),
      host_sums_(Kokkos::create_mirror_view(sums_)),
      distance_(n_positions),
      error_(n_positions) {}

std::int64_t PatternErrors::bytes(const physics::Sizes& sizes) {
  return physics::bytes_of<double>(sizes.model.chunk_size * std::int64_t{FigureSums::n_sums});
}

void PatternErrors::clear() {
  std::ranges::fill(distance_, 0);
  std::ranges::fill(error_, 0);
}

void PatternErrors::look(const device::Device& exec, const physics::ForwardModel& model,
                         const physics::Chunk& chunk, std::span<const int> positions) {
  model.detector().measure_each(exec, model.waves(), chunk, sums_);
  Kokkos::deep_copy(exec, host_sums_, sums_);
  exec.fence();
  for (int j = 0; j < chunk.count; ++j) {
    const auto position = static_cast<std::size_t>(positions[static_cast<std::size_t>(j)]);
    distance_[position] = host_sums_(j, FigureSums::squared_difference);
    error_[position] = distance_[position] / std::max(host_sums_(j, FigureSums::intensity), 1.0);
  }
}

}  // namespace tessera::run
