#include "simulated_detector.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "tessera/base/random.hpp"
#include "tessera/optics/host_fft.hpp"

#include "geometry/point_spread.hpp"
#include "optics/fourier_tools.hpp"
#include "optics/host_propagation.hpp"

namespace tessera::simulation {
namespace {

/// The modes as they are at a position.
WaveStack probe_at(const SimulatedScan& scan, int position) {
  WaveStack probe = scan.probe;
  const Vec2 weight = scan.drift_weights[static_cast<std::size_t>(position)];
  for (int mode = 0; mode < scan.drift_modes.n(); ++mode)
    for (std::int64_t pixel = 0; pixel < probe.shape().size(); ++pixel)
      probe.image(0)[pixel] +=
          (mode == 0 ? weight.y : weight.x) * scan.drift_modes.image(mode)[pixel];
  return probe;
}

void pass_through(WaveStack& waves, const Phantom& slice, Vec2 corner_px) {
  for (int y = 0; y < waves.h(); ++y)
    for (int x = 0; x < waves.w(); ++x) {
      const std::complex<double> transmission =
          slice.transmission(corner_px.y + y, corner_px.x + x);
      for (int mode = 0; mode < waves.n(); ++mode) waves(mode, y, x) *= transmission;
    }
}

/// In the far field the probe moves by what is left of whole pixels. In the near field that would
/// move its image on the detector, so there the sample moves.
WaveStack detector_waves(const SimulatedScan& scan, const WaveStack& probe, Vec2 corner_px) {
  const bool near_field = scan.optics.is_near_field();
  const Vec2 whole{std::floor(corner_px.y + 0.5), std::floor(corner_px.x + 0.5)};
  WaveStack waves = near_field ? probe : optics::shifted(probe, corner_px - whole);
  for (std::size_t slice = 0; slice < scan.slices.size(); ++slice) {
    if (slice > 0) optics::propagate(waves, scan.to_next_slice[slice - 1]);
    pass_through(waves, scan.slices[slice], near_field ? corner_px : whole);
  }
  if (near_field)
    optics::propagate(waves, scan.to_detector);
  else
    optics::forward_2d(waves);
  return waves;
}

/// Add factor |wave|^2 of all modes.
void expose(double* pattern, const WaveStack& waves, double factor) {
  for (int mode = 0; mode < waves.n(); ++mode)
    for (std::int64_t pixel = 0; pixel < waves.shape().size(); ++pixel)
      pattern[pixel] += factor * std::norm(waves.image(mode)[pixel]);
}

/// Along one axis: `n` pixels, `stride` apart.
void spread_line(double* line, int n, int stride, const geometry::PointSpread& spread) {
  std::vector<double> sharp(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) sharp[static_cast<std::size_t>(i)] = line[std::int64_t{i} * stride];
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int k = 0; k < static_cast<int>(spread.share.size()); ++k)
      sum += spread.share[static_cast<std::size_t>(k)] *
             sharp[static_cast<std::size_t>((i + spread.first + k + n) % n)];
    line[std::int64_t{i} * stride] = sum;
  }
}

void spread(double* pattern, Shape2 shape, double sigma_px) {
  const geometry::PointSpread along_x = geometry::point_spread(shape.w, sigma_px);
  for (int y = 0; y < shape.h; ++y)
    spread_line(pattern + std::int64_t{y} * shape.w, shape.w, 1, along_x);
  const geometry::PointSpread along_y = geometry::point_spread(shape.h, sigma_px);
  for (int x = 0; x < shape.w; ++x) spread_line(pattern + x, shape.h, shape.w, along_y);
}

}  // namespace

ImageStack<double> intensities(const SimulatedScan& scan, Share share) {
  ImageStack<double> patterns(share.size(), scan.windows.window);
  const auto n_exposures = static_cast<double>(scan.fly_offsets_px.size());
  for (int i = 0; i < share.size(); ++i) {
    const int number = share.begin + i;
    const auto position = static_cast<std::size_t>(number);
    const WaveStack probe = probe_at(scan, number);
    const Vec2 corner = as_vec2(scan.windows.corner[position]) + scan.windows.subpixel[position];
    for (const Vec2& offset : scan.fly_offsets_px) {
      const Vec2 corner_px = corner + offset;
      expose(patterns.image(i), detector_waves(scan, probe, corner_px),
             scan.intensity[position] / n_exposures);
    }
    if (const double sigma_px = scan.experiment.point_spread_px; sigma_px > 0)
      spread(patterns.image(i), patterns.shape(), sigma_px);
  }
  return patterns;
}

void add_background(ImageStack<double>& patterns, const SimulatedScan& scan) {
  for (int i = 0; i < patterns.n(); ++i)
    std::transform(scan.background.begin(), scan.background.end(), patterns.image(i),
                   patterns.image(i), std::plus<>());
}

void count(ImageStack<double>& patterns, Share share, std::uint64_t seed) {
  for (int i = 0; i < share.size(); ++i) {
    const int position = share.begin + i;
    std::mt19937_64 random(random_bits(seed, static_cast<std::uint64_t>(position)));
    for (std::int64_t pixel = 0; pixel < patterns.shape().size(); ++pixel) {
      double& value = patterns.image(i)[pixel];
      // The distribution needs a mean above 0.
      if (value > 0)
        value = static_cast<double>(std::poisson_distribution<std::int64_t>(value)(random));
    }
  }
}

void spoil_bad_pixels(ImageStack<double>& patterns, const SimulatedScan& scan) {
  constexpr double hot = 65535;
  for (std::int64_t pixel = 0; pixel < patterns.shape().size(); ++pixel) {
    if (scan.valid_pixels.data()[pixel]) continue;
    for (int i = 0; i < patterns.n(); ++i)
      patterns.image(i)[pixel] = scan.hot_pixels.data()[pixel] ? hot : 0;
  }
}

}  // namespace tessera::simulation
