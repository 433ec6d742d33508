#pragma once
/// What the model leaves unexplained of each pattern of this rank.

#include <cstdint>
#include <span>
#include <vector>

#include "physics/forward_model.hpp"

namespace tessera::run {

class PatternErrors {
 public:
  /// @param n_positions of this rank
  /// @param chunk_size positions of the model's largest chunk
  PatternErrors(std::size_t n_positions, int chunk_size);
  /// Device memory of this.
  static std::int64_t bytes(const physics::Sizes& sizes);

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
  device::DeviceView<double * [physics::FigureSums::n_sums]> sums_;
  device::HostView<double * [physics::FigureSums::n_sums]> host_sums_;
  std::vector<double> distance_;
  std::vector<double> error_;
};

}  // namespace tessera::run
