#pragma once
/// What the experiment's distances say about the object's pixels.

namespace tessera::geometry {

/// All that the reconstruction needs to know of the experiment.
struct Optics {
  double wavelength_m = 0;
  double pixel_m = 0;        ///< object pixel, the same in y and x
  double propagation_m = 0;  ///< near field: sample to detector, in a parallel beam; 0: far field
  double source_distance_m = 0;  ///< near field: focus of the cone beam to the sample; 0: parallel
  bool is_near_field() const { return propagation_m > 0; }
};

/// Object pixel = wavelength * distance / (n * detector pixel), for n detector pixels: the sampling
/// of the Fourier transform that joins sample and detector (Goodman, Introduction to Fourier
/// Optics, Fraunhofer diffraction).
inline double far_field_pixel_m(double wavelength_m, double distance_m, double detector_pixel_m,
                                int n_pixels) {
  return wavelength_m * distance_m / (n_pixels * detector_pixel_m);
}

/// The same for a detector that is calibrated in angles, as in electron microscopy.
inline double far_field_pixel_m(double wavelength_m, double detector_pixel_rad, int n_pixels) {
  return wavelength_m / (n_pixels * detector_pixel_rad);
}

/// Fresnel scaling theorem (Paganin, Coherent X-Ray Optics, appendix B): what a cone beam from a
/// focus `source_distance_m` before the sample shows at `distance_m` behind it, a parallel beam
/// shows at distance / magnification, in pixels smaller by the magnification
/// (source_distance + distance) / source_distance. `source_distance_m` = 0: a parallel beam.
inline Optics near_field_optics(double wavelength_m, double distance_m, double detector_pixel_m,
                                double source_distance_m) {
  const double magnification =
      source_distance_m > 0 ? (source_distance_m + distance_m) / source_distance_m : 1;
  return {wavelength_m, detector_pixel_m / magnification, distance_m / magnification,
          source_distance_m};
}

}  // namespace tessera::geometry
