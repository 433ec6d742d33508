#pragma once
/// How much farther positions go than a step finds, as of cross-correlation, or beside waves that
/// are kept, it sees only the part of an error that one update carries; how much less far where
/// steps swing.

#include "tessera/solvers/sweep.hpp"

#include "solvers/fields.hpp"

namespace tessera::solvers {

/// After every epoch, from the correlation r of the errors that it found with those of the one
/// before (as Zhang et al. 2013, Opt. Express 21, 13592): a tenth more while r > -0.25, half of it
/// when r < -0.5; 0.1 to `max`, 1 at first. If a fraction f of an error is found, noise alone
/// leaves r = -gain f / 2, and what swings about the truth, gain f > 2, has r = -1. Of the whole
/// scan, hence the same on any number of ranks.
class PositionGain {
 public:
  /// @param n_positions of this rank
  PositionGain(std::size_t n_positions, double max);

  double value() const { return value_; }
  /// Keeps the errors that a batch has found, before its step takes them.
  void remember(const device::Device& exec, const device::DeviceView<double** [2]>& slopes);
  /// Collective; waits for the device.
  void finish_epoch(const device::Device& exec, Sweep& sweep);
  /// What it remembers between epochs.
  Fields memory() {
    return {host_field("position_gain", value_),
            field("position_error_px", Lives::position, last_)};
  }

 private:
  double value_ = 1;
  double max_;
  device::DeviceView<double* [2]> found_;  ///< (position): of this epoch, pixels
  device::DeviceView<double* [2]> last_;   ///< of the one before
  device::DeviceView<double*> sums_;       ///< <found, last>, ||found||^2, ||last||^2
  device::HostView<double*> host_sums_;
};

}  // namespace tessera::solvers
