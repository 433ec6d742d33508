#include "lost_positions.hpp"

#include "run/pattern_errors.hpp"

namespace tessera::run {

LostPositions::LostPositions(std::size_t n_positions)
    : lost_("tessera::run::lost_positions", n_positions),
      host_lost_(Kokkos::create_mirror_view(lost_)) {}

std::int64_t LostPositions::bytes(const physics::Sizes& sizes) {
  return sizes.moves_positions ? physics::bytes_of<int>(sizes.n_positions) : 0;
}

device::DeviceView<int*> LostPositions::find(const comm::Communicator& comm,
                                             std::span<const double> errors, double ratio) {
  const double bound = ratio * typical(errors, comm);
  for (std::size_t i = 0; i < errors.size(); ++i) host_lost_(i) = errors[i] > bound ? 1 : 0;
  Kokkos::deep_copy(lost_, host_lost_);
  return lost_;
}

}  // namespace tessera::run
