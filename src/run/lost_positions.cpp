#include "lost_positions.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::run {

using physics::FigureSums;

LostPositions::LostPositions(std::size_t n_positions, int chunk_size)
    : sums_("tessera::run::errors_of_each", n_positions > 0 ? chunk_size : 0),
      host_sums_(Kokkos::create_mirror_view(sums_)),
      errors_(n_positions),
      lost_("tessera::run::lost_positions", n_positions),
      host_lost_(Kokkos::create_mirror_view(lost_)) {}

std::int64_t LostPositions::bytes(const physics::Sizes& sizes) {
  if (!sizes.moves_positions) return 0;
  return physics::bytes_of<double>(sizes.model.chunk_size * std::int64_t{FigureSums::n_sums}) +
         physics::bytes_of<int>(sizes.n_positions);
}

void LostPositions::look(const device::Device& exec, const physics::ForwardModel& model,
                         const physics::Chunk& chunk, std::span<const int> positions) {
  model.detector().measure_each(exec, model.waves(), chunk, sums_);
  Kokkos::deep_copy(exec, host_sums_, sums_);
  exec.fence();
  for (int j = 0; j < chunk.count; ++j)
    errors_[static_cast<std::size_t>(positions[static_cast<std::size_t>(j)])] =
        host_sums_(j, FigureSums::squared_difference) /
        std::max(host_sums_(j, FigureSums::intensity), 1.0);
}

device::DeviceView<int*> LostPositions::find(const comm::Communicator& comm, double ratio) {
  std::array<double, 2> sums{};
  for (const double error : errors_)
    if (error > 0) {
      sums[0] += 1;
      sums[1] += std::log(error);
    }
  comm.sum(std::span<double>(sums));
  const double typical = sums[0] > 0 ? std::exp(sums[1] / sums[0]) : 0;
  for (std::size_t i = 0; i < errors_.size(); ++i)
    host_lost_(i) = errors_[i] > ratio * typical ? 1 : 0;
  std::ranges::fill(errors_, 0);
  Kokkos::deep_copy(lost_, host_lost_);
  return lost_;
}

}  // namespace tessera::run
