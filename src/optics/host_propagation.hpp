#pragma once
/// Waves in free space, in double precision and apart from the solvers' kernels.

#include "tessera/base/image_stack.hpp"
#include "tessera/geometry/pixel_size.hpp"

namespace tessera::optics {

/// The propagator from a slice to the next, (1, h, w), zero frequency at [0, 0]:
///   exp(2 pi i dz (sqrt(1 / wavelength^2 - k^2) - 1 / wavelength)) exp(-2 pi i dz k . tan(tilt))
/// The angular spectrum (Goodman, Introduction to Fourier Optics, section 3.10); a positive tilt
/// moves the wave towards +y, +x with depth.
WaveStack slice_propagator(Shape2 window, const geometry::Optics& optics, double thickness_m,
                           Vec2 tilt_rad);

/// The propagator from the sample to a near-field detector: the angular spectrum, or its paraxial
/// form exp(-i pi wavelength z k^2).
WaveStack near_field_propagator(Shape2 window, const geometry::Optics& optics, bool paraxial);

/// Apply a propagator to every wave, (n, h, w).
void propagate(WaveStack& waves, const WaveStack& propagator);

/// Convolve every image with a Gaussian of this standard deviation, periodic.
void blur(WaveStack& images, double sigma_px);

}  // namespace tessera::optics
