#include "optics/deck_optics.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/geometry/wavelength.hpp"

namespace tessera::optics {
namespace {

/// Times exp(-i pi r^2 / (wavelength source_distance)).
void remove_curvature(WaveStack& probe, const geometry::Optics& optics) {
  const double rad_per_px2 = std::numbers::pi * optics.pixel_m * optics.pixel_m /
                             (optics.wavelength_m * optics.source_distance_m);
  for (int y = 0; y < probe.h(); ++y)
    for (int x = 0; x < probe.w(); ++x) {
      const double radius_px = std::hypot(y - probe.h() / 2, x - probe.w() / 2);
      probe(0, y, x) *= std::polar(1.0, -rad_per_px2 * radius_px * radius_px);
    }
}

WaveStack pupil_probe(const deck::Probe& probe, Shape2 window, const geometry::Optics& optics) {
  if (probe.initial == "aperture")
    return aperture_probe(window, optics.wavelength_m, optics.pixel_m,
                          {probe.semi_angle_rad, aberrations(probe)});
  if (probe.initial == "zone_plate")
    return zone_plate_probe(window, optics.wavelength_m, optics.pixel_m,
                            {probe.zone_plate_diameter_m, probe.outer_zone_width_m,
                             probe.central_stop_m, aberrations(probe)});
  throw InputError(text("probe.initial = '", probe.initial,
                        "' is not an optic; use 'aperture' or 'zone_plate'"));
}

}  // namespace

deck::Experiment experiment_as_read(const deck::Deck& deck) {
  deck::Experiment experiment = deck.experiment;
  for (std::optional<double>* pixel :
       {&experiment.detector_pixel_m, &experiment.detector_pixel_rad})
    if (*pixel) **pixel *= deck.data.bin;
  return experiment;
}

Aberrations aberrations(const deck::Probe& probe) {
  return {.defocus_m = probe.defocus_m,
          .astigmatism_m = probe.astigmatism_m,
          .astigmatism_angle_rad = probe.astigmatism_angle_rad,
          .coma_m = probe.coma_m,
          .coma_angle_rad = probe.coma_angle_rad,
          .spherical_m = probe.spherical_m};
}

geometry::Optics optics_of(const deck::Experiment& experiment, Shape2 detector) {
  const double wavelength_m =
      experiment.energy_eV ? geometry::photon_wavelength_m(experiment.energy_eV.value_or(0))
                           : geometry::electron_wavelength_m(experiment.voltage_V.value_or(0));
  const double distance_m = experiment.distance_m.value_or(0);
  const double detector_pixel_m = experiment.detector_pixel_m.value_or(0);
  if (experiment.propagation != "far_field")
    return geometry::near_field_optics(wavelength_m, distance_m, detector_pixel_m,
                                       experiment.source_distance_m.value_or(0));
  if (detector.h != detector.w)
    throw InputError(text("patterns of ", detector.h, " x ", detector.w,
                          " pixels would give object pixels that are not square; crop or pad the "
                          "patterns to a square"));
  const double pixel_m =
      experiment.detector_pixel_rad
          ? geometry::far_field_pixel_m(wavelength_m, *experiment.detector_pixel_rad, detector.w)
          : geometry::far_field_pixel_m(wavelength_m, distance_m, detector_pixel_m, detector.w);
  return {.wavelength_m = wavelength_m, .pixel_m = pixel_m};
}

namespace {

/// Of windows that move by `moved_px`, besides their travel while a pattern is taken.
int reach_px(const deck::Deck& deck, double pixel_m, double moved_px) {
  double margin_px = 0;
  for (const double travel_m : deck.experiment.fly_travel_m)
    margin_px = std::max(margin_px, std::abs(travel_m) / (2 * pixel_m));
  if (deck.refine.positions.from_epoch >= 0) margin_px += moved_px;
  return margin_px > 0 ? static_cast<int>(std::ceil(margin_px)) + 1 : 0;
}

}  // namespace

int window_margin_px(const deck::Deck& deck, double pixel_m) {
  return reach_px(deck, pixel_m, deck.refine.positions.limit_px);
}

int window_reach_px(const deck::Deck& deck, double pixel_m) {
  const deck::Refine& refine = deck.refine;
  return reach_px(deck, pixel_m, std::min(refine.positions.margin_px, refine.positions.limit_px));
}

WaveStack optical_probe(const deck::Probe& probe, Shape2 window, const geometry::Optics& optics) {
  WaveStack made = pupil_probe(probe, window, optics);
  if (optics.source_distance_m > 0) remove_curvature(made, optics);
  return made;
}

bool fits_window(const deck::Probe& probe, Shape2 window, const geometry::Optics& optics) {
  if (!probe.is_optic()) return true;
  try {
    pupil_probe(probe, window, optics);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace tessera::optics
