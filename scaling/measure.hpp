#pragma once
/// Times, and what the machine gives at best, measured in the same run.

#include <algorithm>
#include <vector>

#include "tessera/device/device.hpp"
#include "tessera/fft/plan.hpp"

#include "physics/forward_model.hpp"

namespace tessera::scaling {

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Seconds since some moment.
using Clock = double();
double wall_s();
/// On a host of the time that this thread has been at work, so that what else the machine does is
/// not in it.
double work_s();

/// Of one call. Waits for the device.
template <class F>
double seconds_of(const device::Device& exec, const F& f, Clock* clock = wall_s) {
  exec.fence();
  const double start_s = clock();
  f();
  exec.fence();
  return clock() - start_s;
}

/// Median over `n` calls, after one that warms up. Waits for the device.
template <class F>
double median_seconds(const device::Device& exec, int n, const F& f) {
  std::vector<double> seconds;
  for (int i = 0; i <= n; ++i) {
    const double of_call = seconds_of(exec, f);
    if (i > 0) seconds.push_back(of_call);
  }
  return median(seconds);
}

/// The two roofs of a roofline.
struct Roof {
  double bytes_per_s = 0;  ///< copy of a large array, read + written
  double flops_per_s = 0;  ///< independent fused multiply-adds of Real, two each
};
/// @param n_ranks that measure at once, perhaps in one memory, of which all together take as much
/// as one alone
Roof measure_roof(const device::Device& exec, int n_ranks = 1);

/// The least that a gradient needs: every wave to the detector and back.
struct Reference {
  double transforms_s = 0;           ///< 2 transforms of every wave
  double transforms_and_pass_s = 0;  ///< and each wave read and written once more
};

/// Of some rounds, each figure by itself.
Reference median(const std::vector<Reference>& rounds);

/// The transforms of an epoch's waves, of noise.
class BareTransforms {
 public:
  /// @param waves (position of a chunk, mode, h, w), used as scratch
  /// @param n_positions positions of an epoch, transformed a chunk at a time
  BareTransforms(const device::Device& exec, const physics::WavesView& waves, int n_positions);

  /// Of one round. Waits for the device.
  Reference once(const device::Device& exec, Clock* clock = wall_s) const;
  /// Of some rounds, after one that warms up.
  Reference median_of_rounds(const device::Device& exec) const;

 private:
  template <class F>
  void for_chunks(const F& f) const;
  void scale_by(const device::Device& exec, Real factor, int n_images) const;

  physics::WavesView waves_;
  int n_positions_;
  Shape2 window_;
  fft::Plan plan_;
};

}  // namespace tessera::scaling
