#include "pattern_errors.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::run {

using physics::FigureSums;

PatternErrors::PatternErrors(std::size_t n_positions, int chunk_size)
    : figures_(chunk_size), distance_(n_positions), error_(n_positions) {}

void PatternErrors::clear() {
  std::ranges::fill(distance_, 0);
  std::ranges::fill(error_, 0);
}

void PatternErrors::look(const device::Device& exec, const physics::ForwardModel& model,
                         const physics::Chunk& chunk, std::span<const int> positions) {
  const ChunkFigures::Sums& sums = figures_.of(exec, model, chunk);
  for (int j = 0; j < chunk.count; ++j) {
    const auto position = static_cast<std::size_t>(positions[static_cast<std::size_t>(j)]);
    distance_[position] = sums(j, FigureSums::squared_difference);
    error_[position] = distance_[position] / std::max(sums(j, FigureSums::intensity), 1.0);
  }
}

double typical(std::span<const double> values, const comm::Communicator& comm) {
  std::array<double, 2> sums{};
  for (const double value : values)
    if (value > 0) {
      sums[0] += 1;
      sums[1] += std::log(value);
    }
  comm.sum(std::span<double>(sums));
  return sums[0] > 0 ? std::exp(sums[1] / sums[0]) : 0;
}

}  // namespace tessera::run
