#pragma once
/// The cost of a chunk at several points of a line, from its waves at three of them.

#include "tessera/physics/sizes.hpp"

#include "physics/forward_model.hpp"

namespace tessera::physics {

/// Waves A + t B + t^2 C have intensities quartic in t, before a point spread and after it.
class CostsAlong {
 public:
  static constexpr int n_costs = 8;
  explicit CostsAlong(const ForwardModel& model);
  static std::int64_t bytes(const Sizes& sizes);

  /// Take the model's waves as those at t = 1 (`ahead`), at t = -1 (`behind`). It gets others.
  void take_ahead(ForwardModel& model) { model.swap_waves(ahead_); }
  void take_behind(ForwardModel& model) { model.swap_waves(behind_); }
  /// costs(k) += the cost of `chunk` at t = times(k), less that at t = 0, where the model's waves
  /// are now: with its noise model, background, point spread, on trusted pixels. Does not wait for
  /// the device.
  void add(const device::Device& exec, const ForwardModel& model, const Chunk& chunk,
           const device::DeviceView<Real[n_costs]>& times,
           const device::DeviceView<double*>& costs) const;

 private:
  WavesView ahead_;
  WavesView behind_;
  device::DeviceView<Real**> background_;  ///< zeros where there is none
  /// Coefficients of 1, t, ... t^4, (5 positions of the chunk, h, w); empty: no point spread.
  device::DeviceView<device::complex***> blurred_;
  device::DeviceView<double*> scratch_;
};

}  // namespace tessera::physics
