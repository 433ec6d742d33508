#pragma once
/// Waves that a method remembers for every position of a rank.

#include "tessera/physics/forward_model.hpp"

namespace tessera::solvers {

/// They live with their position, and are never exchanged.
struct WaveStore {
  physics::WavesView waves;  ///< (local position, images, h, w)

  /// Room for what `model` computes of each of the rank's positions.
  explicit WaveStore(const physics::ForwardModel& model);

  /// The model's waves of `chunk` become those of its positions.
  void copy_in(const device::Device& exec, const physics::ForwardModel& model,
               const physics::Chunk& chunk) const;
  /// And back.
  void copy_out(const device::Device& exec, const physics::ForwardModel& model,
                const physics::Chunk& chunk) const;
};

}  // namespace tessera::solvers
