#pragma once
/// What the model leaves unexplained of each pattern of this rank.

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/comm/communicator.hpp"

#include "run/chunk_figures.hpp"

namespace tessera::run {

class PatternErrors {
 public:
  /// @param n_positions of this rank
  /// @param chunk_size positions of the model's largest chunk
  PatternErrors(std::size_t n_positions, int chunk_size);
  /// Device memory of this.
  static std::int64_t bytes(const physics::Sizes& sizes) { return ChunkFigures::bytes(sizes); }

  /// Nothing has been looked at.
  void clear();
  /// Takes the errors of the positions of `chunk`, which `model` has just compared. Waits for the
  /// device.
  /// @param positions of the chunk, on this rank
  void look(const device::Device& exec, const physics::ForwardModel& model,
            const physics::Chunk& chunk, std::span<const int> positions);

  /// (position): squared distance of the amplitudes, counts; 0: not looked at.
  std::span<const double> distances() const { return distance_; }
  /// (position): the same over the pattern's counts.
  std::span<const double> errors() const { return error_; }

 private:
  ChunkFigures figures_;
  std::vector<double> distance_;
  std::vector<double> error_;
};

/// The geometric mean over all ranks of `values` that are above 0; 0: there are none. Collective.
double typical(std::span<const double> values, const comm::Communicator& comm);

}  // namespace tessera::run
