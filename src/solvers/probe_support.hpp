#pragma once
/// Discs outside which the probe is zero, on the sample and on the detector.

#include "tessera/fft/plan.hpp"
#include "tessera/physics/forward_model.hpp"

namespace tessera::solvers {

/// Zero where pixels are farther than `radius_px` from the window's centre [h/2, w/2].
void keep_disc(const device::Device& exec, double radius_px, const physics::ProbeView& probe);

/// The probe's far field is zero farther than `radius_px` detector pixels from zero frequency.
void keep_aperture(const device::Device& exec, const fft::Plan& plan, double radius_px,
                   const physics::ProbeView& probe);

}  // namespace tessera::solvers
