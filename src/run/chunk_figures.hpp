#pragma once
/// Figures of single patterns, on the host.

#include <cstdint>

#include "physics/forward_model.hpp"

namespace tessera::run {

class ChunkFigures {
 public:
  using Sums = device::HostView<double * [physics::FigureSums::n_sums]>;

  /// @param chunk_size positions of the model's largest chunk
  explicit ChunkFigures(int chunk_size)
      : sums_("tessera::run::figures_of_each", chunk_size),
        host_sums_(Kokkos::create_mirror_view(sums_)) {}
  /// Device memory of this.
  static std::int64_t bytes(const physics::Sizes& sizes) {
    return physics::bytes_of<double>(sizes.model.chunk_size *
                                     std::int64_t{physics::FigureSums::n_sums});
  }

  /// (place of the chunk, FigureSums) of `chunk`, which `model` has just compared; until the next
  /// call. Waits for the device.
  const Sums& of(const device::Device& exec, const physics::ForwardModel& model,
                 const physics::Chunk& chunk) {
    model.detector().measure_each(exec, model.waves(), chunk, sums_);
    Kokkos::deep_copy(exec, host_sums_, sums_);
    exec.fence();
    return host_sums_;
  }

 private:
  device::DeviceView<double * [physics::FigureSums::n_sums]> sums_;
  Sums host_sums_;
};

}  // namespace tessera::run
