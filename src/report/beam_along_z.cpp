#include "report/beam_along_z.hpp"

#include <algorithm>

#include "tessera/optics/host_fft.hpp"

#include "optics/host_propagation.hpp"

namespace tessera::report {
namespace {

constexpr int n_planes = 97;  // odd: the sample is one of them

/// Adds the intensity of `waves` to column `plane` of both; the sum of its square.
double add_plane(const WaveStack& waves, int plane, BeamAlongZ& beam) {
  std::vector<double> intensity(static_cast<std::size_t>(waves.shape().size()));
  for (int mode = 0; mode < waves.n(); ++mode)
    for (std::size_t r = 0; r < intensity.size(); ++r)
      intensity[r] += std::norm(waves.image(mode)[r]);
  double squares = 0;
  for (int y = 0; y < waves.h(); ++y)
    for (int x = 0; x < waves.w(); ++x) {
      const double here = intensity[static_cast<std::size_t>(y) * waves.w() + x];
      beam.y(0, y, plane) += here;
      beam.x(0, x, plane) += here;
      squares += here * here;
    }
  return squares;
}

}  // namespace

BeamAlongZ beam_along_z(const WaveStack& probe, double pixel_m, double wavelength_m) {
  BeamAlongZ beam{.z_m = {},
                  .y = ImageStack<double>(1, {probe.h(), n_planes}),
                  .x = ImageStack<double>(1, {probe.w(), n_planes})};
  const int side = std::min(probe.h(), probe.w());
  const double reach_m = 1.5 * side * pixel_m * pixel_m / wavelength_m;
  WaveStack spectrum = probe;
  optics::forward_2d(spectrum);
  double sharpest = 0;
  for (int plane = 0; plane < n_planes; ++plane) {
    const double z_m = reach_m * (2.0 * plane / (n_planes - 1) - 1);
    const WaveStack propagator = optics::slice_propagator(
        probe.shape(), {.wavelength_m = wavelength_m, .pixel_m = pixel_m}, z_m, {});
    WaveStack waves = spectrum;
    for (int mode = 0; mode < waves.n(); ++mode)
      std::transform(waves.image(mode), waves.image(mode) + waves.shape().size(), propagator.data(),
                     waves.image(mode), std::multiplies<>());
    optics::inverse_2d(waves);
    const double squares = add_plane(waves, plane, beam);
    if (squares > sharpest) beam.sharpest_m = z_m;
    sharpest = std::max(sharpest, squares);
    beam.z_m.push_back(z_m);
  }
  return beam;
}

}  // namespace tessera::report
