#include "tessera/app/experiment.hpp"

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/geometry/wavelength.hpp"

namespace tessera::app {

geometry::Optics far_field_optics(const deck::Experiment& experiment, Shape2 detector) {
  if (detector.h != detector.w)
    throw InputError(text("patterns of ", detector.h, " x ", detector.w,
                          " pixels would give object pixels that are not square; crop or pad the "
                          "patterns to a square"));
  const double wavelength_m =
      experiment.energy_eV ? geometry::photon_wavelength_m(experiment.energy_eV.value_or(0))
                           : geometry::electron_wavelength_m(experiment.voltage_V.value_or(0));
  const double pixel_m =
      experiment.detector_pixel_rad
          ? geometry::far_field_pixel_m(wavelength_m, experiment.detector_pixel_rad.value_or(0),
                                        detector.w)
          : geometry::far_field_pixel_m(wavelength_m, experiment.distance_m.value_or(0),
                                        experiment.detector_pixel_m.value_or(0), detector.w);
  return {wavelength_m, pixel_m};
}

deck::Experiment experiment_as_read(const deck::Deck& deck) {
  deck::Experiment experiment = deck.experiment;
  for (std::optional<double>* pixel :
       {&experiment.detector_pixel_m, &experiment.detector_pixel_rad})
    if (*pixel) **pixel *= deck.data.bin;
  return experiment;
}

physics::Aberrations aberrations(const deck::Probe& probe) {
  return {.defocus_m = probe.defocus_m,
          .astigmatism_m = probe.astigmatism_m,
          .astigmatism_angle_rad = probe.astigmatism_angle_rad,
          .coma_m = probe.coma_m,
          .coma_angle_rad = probe.coma_angle_rad,
          .spherical_m = probe.spherical_m};
}

WaveStack optical_probe(const deck::Probe& probe, Shape2 window, const geometry::Optics& optics) {
  if (probe.initial == "aperture")
    return physics::aperture_probe(window, optics.wavelength_m, optics.pixel_m,
                                   {probe.semi_angle_rad, aberrations(probe)});
  if (probe.initial == "zone_plate")
    return physics::zone_plate_probe(window, optics.wavelength_m, optics.pixel_m,
                                     {probe.zone_plate_diameter_m, probe.outer_zone_width_m,
                                      probe.central_stop_m, aberrations(probe)});
  throw InputError(text("probe.initial = '", probe.initial,
                        "' is not an optic; use 'aperture' or 'zone_plate'"));
}

}  // namespace tessera::app
