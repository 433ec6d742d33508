#pragma once
/// Probes to start from: what an optic would make, or what the mean pattern says, and further
/// incoherent modes. Centred in the window, at [h/2, w/2].

#include "tessera/base/image_stack.hpp"

namespace tessera::optics {

/// Of the probe-forming lens, in Krivanek's notation (Krivanek, Dellby & Lupini 1999,
/// Ultramicroscopy 78, 1): defocus C1, two-fold astigmatism A1, axial coma B2 x 3, spherical C3.
/// Angles from +x towards +y.
struct Aberrations {
  double defocus_m = 0;
  double astigmatism_m = 0;
  double astigmatism_angle_rad = 0;
  double coma_m = 0;
  double coma_angle_rad = 0;
  double spherical_m = 0;

  /// theta^2 / 2 (defocus + astigmatism cos 2(phi - angle)) + theta^3 / 3 coma cos(phi - angle) +
  /// theta^4 / 4 spherical, metres, in the direction `theta_rad` (y, x). The pupil's phase is
  /// -2 pi / wavelength times this, so that underfocus is a negative defocus.
  double path_m(Vec2 theta_rad) const;
};

/// A round aperture in the back focal plane of a lens, as in a STEM.
struct ApertureOptics {
  double semi_angle_rad = 0;
  Aberrations aberrations;
};

/// A Fresnel zone plate with an optional central stop; focal length = diameter * outer zone width /
/// wavelength (Attwood, Soft X-Rays and Extreme Ultraviolet Radiation, chapter on zone plates).
struct ZonePlateOptics {
  double diameter_m = 0;
  double outer_zone_width_m = 0;
  double central_stop_m = 0;
  Aberrations aberrations;
};

/// Inverse transform of the pupil disc(theta) * exp(-2 pi i / wavelength * path(theta)), theta =
/// wavelength * spatial frequency (Kirkland, Advanced Computing in Electron Microscopy, chapter on
/// STEM; our defocus is minus his). The disc's edge is one frequency bin wide.
/// @return (1, h, w), sum |probe|^2 = 1
/// @throws InputError if the aperture is wider than the detector or the probe than its window
WaveStack aperture_probe(Shape2 window, double wavelength_m, double pixel_m,
                         const ApertureOptics& optics);

/// The same with the zone plate's pupil: a ring from central_stop / (2 focal length) to diameter /
/// (2 focal length) = wavelength / (2 outer zone width).
WaveStack zone_plate_probe(Shape2 window, double wavelength_m, double pixel_m,
                           const ZonePlateOptics& optics);

/// Adds light of random phases, the same in every run, of a millionth of the power. Where an
/// aperture lets no light through an empty object's pattern is dark, and the phase of what is
/// counted there would be that of rounding: of another processor or kernel, another probe.
void add_faint_light(WaveStack& probe);

/// Inverse transform of sqrt(intensity) with the aberrations' phase: from the mean pattern, or from
/// a measurement without a sample, where no other phase is known.
/// @param intensity (1, h, w), zero frequency at [0, 0]
WaveStack pattern_probe(const ImageStack<double>& intensity, double wavelength_m, double pixel_m,
                        const Aberrations& aberrations);

/// The modes of `probe` followed by new ones up to `n_modes`: mode 0 times low-order polynomials
/// about its centre of mass, orthogonal to all earlier modes, each with `extra_mode_power` of the
/// total. The total power does not change. With n_modes <= probe.n() the first n_modes are kept.
/// @throws InputError if the new modes would leave no power to the given ones
WaveStack with_extra_modes(const WaveStack& probe, int n_modes, double extra_mode_power);

/// `probe` followed by OPR modes, made from mode 0 as further modes are, with `power` of it in all.
WaveStack with_opr_modes(const WaveStack& probe, int n_opr_modes, double power);

/// Scale so that sum |probe|^2 over all modes = counts_per_pattern.
/// @throws InputError if the probe is zero or not finite
void scale_to_counts(WaveStack& probe, double counts_per_pattern);

}  // namespace tessera::optics
