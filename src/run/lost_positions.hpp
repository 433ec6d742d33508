#pragma once
/// Positions that were refined to a wrong place, told by their patterns.

#include <cstdint>
#include <span>

#include "tessera/comm/communicator.hpp"

#include "physics/forward_model.hpp"

namespace tessera::run {

/// A position that an early, poor object has led astray stays where it is, in a minimum of its own
/// pattern's error alone (a period of the sample away, say). Once the others are right that error
/// stands out, and from where the scan has it the position finds its way.
class LostPositions {
 public:
  /// Epochs from one look to the next: enough to come back.
  static constexpr int every_epochs = 20;
  /// And no look within so many before the last.
  static constexpr int epochs_to_return = 15;

  /// @param n_positions of this rank
  explicit LostPositions(std::size_t n_positions);
  /// Device memory of this.
  static std::int64_t bytes(const physics::Sizes& sizes);

  /// (position): 1 where the error is above `ratio` times the geometric mean over all ranks, of
  /// those that were looked at. Collective.
  /// @param errors by position of this rank, 0: not looked at
  device::DeviceView<int*> find(const comm::Communicator& comm, std::span<const double> errors,
                                double ratio);

 private:
  device::DeviceView<int*> lost_;
  device::HostView<int*> host_lost_;
};

}  // namespace tessera::run
