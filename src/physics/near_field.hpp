#pragma once
/// From the sample to a detector nearby, in the parallel beam that equals the cone (Fresnel scaling
/// theorem; Paganin, Coherent X-Ray Optics, appendix B):
///   fresnel           exp(-i pi lambda z k^2)                        (Goodman, eq. 4-21)
///   angular_spectrum  exp(2 pi i z (sqrt(1/lambda^2 - k^2) - 1/lambda))  (Goodman, eq. 3-74)
/// The illumination stands still on the detector while the sample moves: where the model shifts the
/// probe, the wave behind the sample is shifted back.

#include "tessera/device/device.hpp"
#include "tessera/fft/plan.hpp"
#include "tessera/physics/sizes.hpp"

#include "physics/illumination.hpp"

namespace tessera::physics {

class NearField {
 public:
  /// @param plan of the window's shape; lives as long as this
  /// @param waves those of the model at any time, which pass through
  NearField(const ScanTile& scan, const ModelOptions& options, const Illumination& illumination,
            const fft::Plan& plan, const WavesView& waves);
  static std::int64_t bytes(const Sizes& sizes);

  /// waves(): to the detector; times unitary_scale() unitary, as a transform's would be.
  void forward(const device::Device& exec, const Chunk& chunk) const;
  /// Its adjoint.
  void backward(const device::Device& exec, const Chunk& chunk) const;

  /// slopes.at_position += what the shift back adds to the slope by the position. waves() = chi
  /// behind the sample; they are lost.
  /// @param exit_waves of the same chunk; lost as well
  /// @param scale of waves()
  void add_position_slopes(const device::Device& exec, const Chunk& chunk,
                           const WavesView& exit_waves, Real scale,
                           const ParameterSlopes& slopes) const;

 private:
  void propagate(const device::Device& exec, const Chunk& chunk, bool back) const;

  const ScanTile& scan_;
  ModelOptions options_;
  const Illumination& illumination_;
  const fft::Plan& plan_;
  const WavesView& waves_;
  device::DeviceView<device::complex**> propagator_;  ///< (h, w), with unitary_scale()
  device::DeviceView<double* [1]> sums_;
};

}  // namespace tessera::physics
