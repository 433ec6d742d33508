#pragma once
/// Procedural samples: functions of continuous object pixels, so that a rank needs no array of
/// them. Edges are about two pixels soft, so that the pixel grid can represent them.

#include <complex>
#include <cstdint>
#include <string>

#include "tessera/base/box.hpp"

namespace tessera::app {

class Phantom {
 public:
  /// @param kind "siemens_star", "cells" or "resolution_chart"
  /// @param object, window pixels; the star fills what the centres of the windows reach
  /// @param phase_rad phase shift where the sample is thickest
  /// @param absorption fraction of the amplitude absorbed where the sample is thickest
  Phantom(const std::string& kind, Shape2 object, Shape2 window, double phase_rad,
          double absorption, std::uint64_t seed);

  /// (1 - absorption)^t exp(i phase t), t = thickness.
  std::complex<double> transmission(double y_px, double x_px) const;
  /// In [0, 1].
  double thickness(double y_px, double x_px) const;

 private:
  double siemens_star(double y_px, double x_px) const;
  double cells(double y_px, double x_px) const;
  double resolution_chart(double y_px, double x_px) const;

  double (Phantom::*thickness_)(double, double) const;
  Vec2 centre_px_;
  double star_radius_px_;
  double phase_rad_;
  double log_amplitude_;
  std::uint64_t seed_;
};

}  // namespace tessera::app
