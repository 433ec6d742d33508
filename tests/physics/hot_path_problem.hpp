#pragma once
/// What the hot path computes, as plain arrays, and the plain model of it.

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "tessera/physics/noise_model.hpp"

#include "support/plain_model.hpp"

namespace tessera::physics::testing {

using Numbers = std::vector<std::complex<double>>;
constexpr double pi = 3.14159265358979323846;

/// An n x n image, or several, one after another.
inline WaveStack as_images(const Numbers& values, int n) {
  const auto area = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  WaveStack images(static_cast<int>(values.size() / area), {n, n});
  std::copy(values.begin(), values.end(), images.begin());
  return images;
}

inline Numbers as_numbers(const WaveStack& images, double factor = 1) {
  Numbers values(images.begin(), images.end());
  for (auto& value : values) value *= factor;
  return values;
}

/// Unnormalised, along x, of an n x n image.
inline Numbers fft_rows(const Numbers& image, int n, int sign) {
  return as_numbers(tessera::testing::dft_rows(as_images(image, n), sign), std::sqrt(n));
}

/// Unnormalised, of an n x n image.
inline Numbers fft_2d(const Numbers& image, int n, int sign) {
  return as_numbers(tessera::testing::dft(as_images(image, n), sign), n);
}

/// An n x n image moved by so many pixels, by a Fourier shift.
inline Numbers moved(const Numbers& image, int n, double shift_y, double shift_x) {
  Numbers spectrum = fft_2d(image, n, -1);
  const auto angle = [&](int bin, double shift) {
    return -2 * pi * (bin < n / 2 ? bin : bin - n) * shift / n;
  };
  for (int i = 0; i < n * n; ++i)
    spectrum[static_cast<std::size_t>(i)] *=
        std::polar(1.0 / n / n, angle(i / n, shift_y) + angle(i % n, shift_x));
  return fft_2d(spectrum, n, 1);
}

/// (slot, 2): y, x, pixels.
inline std::vector<float> make_shifts(std::size_t n_slots) {
  std::vector<float> shift{0.F, 0.F, 0.3F, -0.45F, -0.5F, 0.125F, 0.7F, 0.2F, -0.01F, 0.49F};
  while (shift.size() < 2 * n_slots) shift.push_back(shift[shift.size() - 10] * 0.97F);
  return shift;
}

/// A scan with random contents, as plain arrays.
struct Problem {
  int n = 32;
  int n_modes = 1;
  int n_positions = 3;
  int n_slots = 1;
  int object_h = 0;
  int object_w = 0;
  std::vector<std::complex<float>> object;
  std::vector<std::complex<float>> probes;  ///< (slot, mode, n, n)
  std::vector<float> counts;                ///< (position, n, n)
  std::vector<float> valid;
  std::vector<int> order;
  std::vector<int> corner;
  std::vector<int> slot;  ///< ascending along the order
  double saturation = std::numeric_limits<double>::infinity();
  std::vector<float> background = {};  ///< (n, n), counts; empty: none
  Noise noise = Noise::amplitude;
  double dark_amplitude = 1e-10;  ///< of ModelOptions
  std::size_t area() const { return static_cast<std::size_t>(n) * static_cast<std::size_t>(n); }
};

/// @param max_counts in a pixel; whole numbers if `whole`; many pixels have none
inline Problem make_problem(int n, int n_modes, int n_positions, int n_slots, int max_counts,
                            bool whole) {
  std::mt19937 random(static_cast<unsigned>(n + 7 * n_modes + 31 * n_positions));
  std::uniform_real_distribution<float> uniform(0, 1);
  const auto number = [&] {
    return std::complex<float>(uniform(random) - 0.5F, uniform(random) - 0.5F);
  };
  Problem p{n, n_modes, n_positions, n_slots, n + 24, n + 37, {}, {}, {}, {}, {}, {}, {}};
  p.object.resize(static_cast<std::size_t>(p.object_h) * static_cast<std::size_t>(p.object_w));
  for (auto& o : p.object) o = 1.F + 0.5F * number();
  p.probes.resize(static_cast<std::size_t>(n_slots * n_modes) * p.area());
  for (auto& q : p.probes) q = 8.F * number();
  p.counts.resize(static_cast<std::size_t>(n_positions) * p.area());
  for (auto& c : p.counts) {
    c = std::max(0.F, 1.5F * uniform(random) - 0.5F) * static_cast<float>(max_counts);
    if (whole) c = std::floor(c);
  }
  p.valid.resize(p.area());
  for (auto& v : p.valid) v = uniform(random) < 0.1F ? 0.F : 1.F;
  for (int j = 0; j < n_positions; ++j) {
    p.order.push_back(n_positions - 1 - j);
    p.corner.push_back(static_cast<int>(25 * uniform(random)));
    p.corner.push_back(static_cast<int>(38 * uniform(random)));
    p.slot.push_back(j * n_slots / n_positions);
  }
  return p;
}

inline void add_background(Problem& p, int max_counts) {
  for (std::size_t i = 0; i < p.area(); ++i)
    p.background.push_back(0.02F * static_cast<float>(max_counts) * static_cast<float>(1 + i % 7));
}

/// What a chunk adds to.
struct Sums {
  Numbers object;
  std::vector<double> dose;
  Numbers slots;
  std::vector<double> overlap;
  double figures[5] = {};               ///< FigureSums without the number of pixels
  std::vector<double> background = {};  ///< (n, n, 2): slope, curvature; empty: not wanted
};

/// One place of the order, as the plain model sees a position of a scan.
struct Window {
  const Problem& p;
  std::size_t position;
  std::size_t slot;
  Pixel corner;

  Window(const Problem& problem, int k)
      : p(problem),
        position(static_cast<std::size_t>(problem.order[static_cast<std::size_t>(k)])),
        slot(static_cast<std::size_t>(problem.slot[static_cast<std::size_t>(k)])),
        corner{problem.corner[2 * position], problem.corner[2 * position + 1]} {}

  double counts(int, int y, int x) const {
    return static_cast<double>(p.counts[position * p.area() + in_image(y, x)]);
  }
  double valid_pixels(int, int y, int x) const {
    return counts(0, y, x) < p.saturation ? static_cast<double>(p.valid[in_image(y, x)]) : 0;
  }
  std::size_t in_image(int y, int x) const { return static_cast<std::size_t>(y * p.n + x); }

  /// Of the window alone: what lies elsewhere is not needed.
  WaveStack seen(const std::vector<std::complex<float>>& object) const {
    WaveStack made(1, {p.n, p.n});
    for (int y = 0; y < p.n; ++y)
      for (int x = 0; x < p.n; ++x) made(0, y, x) = object[in_object(y, x)];
    return made;
  }
  WaveStack lit(const std::vector<std::complex<float>>& probes) const {
    WaveStack made(p.n_modes, {p.n, p.n});
    std::copy_n(probes.begin() + static_cast<std::ptrdiff_t>(slot * made.size()), made.size(),
                made.begin());
    return made;
  }
  std::size_t in_object(int y, int x) const {
    return static_cast<std::size_t>((corner.y + y) * p.object_w + corner.x + x);
  }
  /// Of every mode, those of the problem or others of the same shape.
  WaveStack exit_waves(const std::vector<std::complex<float>>& probes,
                       const std::vector<std::complex<float>>& object) const {
    WaveStack waves = lit(probes);
    tessera::testing::multiply_by_object(waves, seen(object), 0, {});
    return waves;
  }
};

/// What the counts say of a pixel, written out once more (docs/methods/maximum_likelihood.md).
struct PlainPixel {
  double cost;
  double slope;      ///< of the negative cost, by the intensity
  double curvature;  ///< as PixelModel has it

  PlainPixel(Noise noise, double expected, double counted, double dark_amplitude) {
    if (noise == Noise::poisson) {
      const double seen = expected + 1e-3;
      cost = (expected - counted * std::log(seen)) / 2;
      slope = (counted / seen - 1) / 2;
      curvature = 0.5 / seen;
    } else if (noise == Noise::intensity) {
      const double variance = counted + 1;
      const bool is_far_above = expected > counted + variance;
      cost = is_far_above ? (2 * (expected - counted) - variance) / 4
                          : (expected - counted) * (expected - counted) / 4 / variance;
      slope = is_far_above ? -0.5 : (counted - expected) / 2 / variance;
      curvature = slope / (counted - expected);
    } else if (noise == Noise::stabilised) {
      const double model = std::sqrt(expected + 0.25);
      const double of_count = (std::sqrt(counted) + std::sqrt(counted + 1)) / 2;
      cost = (model - of_count) * (model - of_count);
      slope = (of_count - model) / model;
      curvature = 1 / (model * (model + of_count));
    } else {
      const double missing = std::sqrt(counted) - std::sqrt(expected);
      cost = missing * missing;
      const double amplitude = std::max(std::sqrt(expected), dark_amplitude);
      slope = missing / amplitude;
      curvature = 1 / (amplitude * (std::sqrt(expected) + std::sqrt(counted)));
    }
  }
};

/// What is missing in detector waves, of every mode.
/// @param figures += as Sums::figures
/// @param slopes += what the pixels say of the background, as Sums::background; null: not wanted
inline WaveStack missing_at_detector(const Window& window, WaveStack waves, double (&figures)[5],
                                     double* slopes = nullptr) {
  const std::vector<float>& background = window.p.background;
  const ImageStack<double> of_waves = tessera::testing::intensity(waves);
  for (int y = 0; y < waves.h(); ++y)
    for (int x = 0; x < waves.w(); ++x) {
      const std::size_t i = window.in_image(y, x);
      const double trusted = window.valid_pixels(0, y, x);
      const double counted = window.counts(0, y, x) * trusted;
      const double expected =
          of_waves(0, y, x) + (background.empty() ? 0 : static_cast<double>(background[i]));
      const PlainPixel pixel(window.p.noise, expected, counted, window.p.dark_amplitude);
      const double missing = (std::sqrt(counted) - std::sqrt(expected)) * trusted;
      figures[0] += missing * missing;
      figures[1] += std::abs(missing);
      figures[2] += counted;
      figures[3] += std::sqrt(counted);
      figures[4] += trusted * pixel.cost;
      for (int m = 0; m < waves.n(); ++m) waves(m, y, x) *= trusted * pixel.slope;
      if (!slopes) continue;
      slopes[2 * i] += trusted * pixel.slope;
      slopes[2 * i + 1] += trusted * pixel.curvature;
    }
  return waves;
}

/// The same in the exit waves of place k.
inline WaveStack missing_waves(const Problem& p, int k, double (&figures)[5],
                               double* slopes = nullptr) {
  const Window window(p, k);
  WaveStack waves = tessera::testing::dft(window.exit_waves(p.probes, p.object), -1);
  return tessera::testing::dft(missing_at_detector(window, std::move(waves), figures, slopes), 1);
}

/// Adds exit waves of place k, one of every mode: `src/physics/README.md`.
inline void add_waves(const Problem& p, int k, const WaveStack& waves, Sums& sums) {
  const Window window(p, k);
  tessera::testing::PlainSums one({p.n, p.n}, p.n_modes, {p.n, p.n});
  one.add_to_object(window.lit(p.probes), waves, {});
  const WaveStack term = one.add_overlap(window.seen(p.object), waves, {});
  for (int y = 0; y < p.n; ++y)
    for (int x = 0; x < p.n; ++x) {
      sums.object[window.in_object(y, x)] += one.object(0, y, x);
      sums.dose[window.in_object(y, x)] += one.dose(0, y, x);
      sums.overlap[window.in_image(y, x)] += one.overlap(0, y, x);
    }
  for (std::size_t i = 0; i < term.size(); ++i)
    sums.slots[window.slot * term.size() + i] += term.data()[i];
}

/// Adds place k of the order.
inline void add_place(const Problem& p, int k, Sums& sums) {
  double* const slopes = sums.background.empty() ? nullptr : sums.background.data();
  add_waves(p, k, missing_waves(p, k, sums.figures, slopes), sums);
}

}  // namespace tessera::physics::testing
