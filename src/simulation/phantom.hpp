#pragma once
/// Procedural samples: functions of continuous object pixels, so that a rank needs no array of
/// them. Edges are about two pixels soft, so that the pixel grid can represent them.

#include <complex>
#include <cstdint>
#include <memory>
#include <string>

#include "tessera/base/box.hpp"

#include "crystal.hpp"

namespace tessera::simulation {

class Phantom {
 public:
  /// @param kind "siemens_star", "cells", "resolution_chart" or "atoms"
  /// @param slice of a thick sample: slice 0 is of the kind named, those behind it take turns among
  /// the first three kinds, each turned and moved; atoms stay atoms, of another seed
  /// @param object, window pixels; the star fills what the centres of the windows reach
  /// @param phase_rad phase shift where the sample is thickest
  /// @param absorption fraction of the amplitude absorbed where the sample is thickest
  Phantom(const std::string& kind, Shape2 object, Shape2 window, double phase_rad,
          double absorption, std::uint64_t seed, int slice = 0);
  /// A slice of a crystal, which all of them share.
  Phantom(std::shared_ptr<const Crystal> crystal, int slice, double phase_rad, double absorption);

  /// (1 - absorption)^t exp(i phase t), t = thickness.
  std::complex<double> transmission(double y_px, double x_px) const;
  /// In [0, 1].
  double thickness(double y_px, double x_px) const;

 private:
  using Thickness = double (Phantom::*)(double, double) const;
  static Thickness thickness_of(const std::string& kind, int slice);
  double siemens_star(double y_px, double x_px) const;
  double cells(double y_px, double x_px) const;
  double resolution_chart(double y_px, double x_px) const;

  double atoms(double y_px, double x_px) const;

  std::shared_ptr<const Crystal> crystal_;  ///< none: `thickness_`
  int slice_;
  Thickness thickness_ = nullptr;
  Vec2 centre_px_;
  double star_radius_px_ = 0;
  Vec2 moved_px_;
  double turned_rad_ = 0;
  double phase_rad_;
  double log_amplitude_;
  std::uint64_t seed_ = 0;
};

}  // namespace tessera::simulation
