#pragma once
/// A thick sample: slices with free space between them (multislice; Maiden, Humphry & Rodenburg
/// 2012, J. Opt. Soc. Am. A 29, 1606). Waves step from slice to slice by the angular spectrum,
///   H(k) = exp(2 pi i dz (sqrt(1/lambda^2 - k^2) - 1/lambda - k . tan(tilt))), 0 for evanescent k.

#include "tessera/device/device.hpp"
#include "tessera/fft/plan.hpp"
#include "tessera/physics/model_options.hpp"
#include "tessera/physics/scan_tile.hpp"
#include "tessera/physics/sizes.hpp"

#include "hot_path.hpp"
#include "physics/gradient_sums.hpp"
#include "physics/parameters.hpp"

namespace tessera::physics {

class Slices {
 public:
  /// @param plan of the window's shape; lives as long as this
  /// @param waves those of the model at any time, which pass through
  /// @param on_chip kernels that keep windows on the chip may take the place of `forward` and
  /// `backward`
  Slices(const ScanTile& scan, const Parameters& parameters, const ModelOptions& options,
         const fft::Plan& plan, const WavesView& waves, bool on_chip);
  static std::int64_t bytes(const Sizes& sizes);

  /// Makes the propagators of the present distances and tilt.
  void set_optics(const device::Device& exec);
  /// For fused kernels, which take the place of `forward` and `backward`.
  hot_path::SliceArrays fused() const;
  /// waves(): from behind the first slice to behind the last. The waves that fall on each slice are
  /// kept for `backward`.
  /// @param scale that the waves carry
  void forward(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
               Real scale);
  /// waves(): chi from behind the last slice to behind the first, and on the way every other
  /// slice's part of sums.object and sums.dose; slopes.optics += those of `fitted`.
  /// @param scale that makes the waves unitary
  void backward(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                const GradientSums& sums, Real scale, const FittedParameters& fitted,
                const ParameterSlopes& slopes);

 private:
  int n_images(const Chunk& chunk) const { return chunk.count * options_.n_waves(); }
  WavesView incident(int slice) const;
  void make_propagators(const device::Device& exec, double scale) const;
  void propagate(const device::Device& exec, int gap, int n, bool back) const;
  void add_optics_slopes(const device::Device& exec, const Chunk& chunk, int slice, Real scale,
                         const FittedParameters& fitted, const ParameterSlopes& slopes);

  const ScanTile& scan_;
  Parameters parameters_;
  ModelOptions options_;
  const fft::Plan& plan_;
  const WavesView& waves_;
  device::DeviceView<device::complex*****> incident_;  ///< (slice - 1, position, image, h, w)
  device::DeviceView<device::complex***> propagator_;  ///< (gap, h, w), with 1 / (h w)
  device::DeviceView<device::complex***> on_chip_;     ///< the same in the chip's order, if any
  device::DeviceView<double*> scratch_;
  device::DeviceView<double*> found_;
};

}  // namespace tessera::physics
