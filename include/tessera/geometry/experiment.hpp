#pragma once
/// What the far field of a detector says about the object's pixels.

namespace tessera::geometry {

/// All that the reconstruction needs to know of the experiment.
struct Optics {
  double wavelength_m = 0;
  double pixel_m = 0;  ///< object pixel, the same in y and x
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

}  // namespace tessera::geometry
