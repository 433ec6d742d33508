#pragma once
/// The cost of a chunk at several points of a line, from its waves at three of them.

#include "tessera/physics/sizes.hpp"

#include "hot_path.hpp"
#include "physics/forward_model.hpp"

namespace tessera::physics {

/// Waves A + t B + t^2 C have intensities quartic in t, before a point spread and after it.
class CostsAlong {
 public:
  static constexpr int n_costs = hot_path::WavesOnLine::n_costs;
  static constexpr int n_sums = hot_path::WavesOnLine::n_sums;
  /// What the model is asked for its waves.
  struct Point {
    ObjectView object;
    ShiftedProbe& probe;
  };
  struct Line {
    Point here;    ///< t = 0
    Point ahead;   ///< t = 1
    Point behind;  ///< t = -1
  };
  explicit CostsAlong(ForwardModel& model);
  static std::int64_t bytes(const Sizes& sizes);

  /// sums(k) += the cost of `chunk` at t = times(k), less that at t = 0, and sums(n_costs) += its
  /// slope by t at t = 0: with the model's noise, background, point spread, on trusted pixels. The
  /// slope is what gradients make of it, which hold back dark pixels. The model's probe is that of
  /// line.here afterwards. Does not wait for the device.
  void add(const device::Device& exec, const Line& line, const Chunk& chunk,
           const device::DeviceView<Real[n_costs]>& times, const device::DeviceView<double*>& sums);

 private:
  void find_waves(const device::Device& exec, const Point& at, const Chunk& chunk);
  void add_of_waves(const device::Device& exec, const Chunk& chunk,
                    const device::DeviceView<Real[n_costs]>& times,
                    const device::DeviceView<double*>& sums) const;
  void add_at_once(const device::Device& exec, const Line& line, const Chunk& chunk,
                   const device::DeviceView<Real[n_costs]>& times,
                   const device::DeviceView<double*>& sums);

  ForwardModel& model_;
  bool on_chip_;  ///< where a chunk fills it
  WavesView ahead_;
  WavesView behind_;
  PointSpread point_spread_;  ///< of coefficients of 1, t, ... t^4, by position of the chunk
  device::DeviceView<double*> scratch_;
};

}  // namespace tessera::physics
