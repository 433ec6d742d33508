#pragma once
/// What the hot path computes, by plain loops in double precision.

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <random>
#include <vector>

namespace tessera::physics::testing {

using Numbers = std::vector<std::complex<double>>;
constexpr double pi = 3.14159265358979323846;

/// sum_x v[begin + x stride] exp(sign 2 pi i x k / n), recursively by even and odd x.
inline Numbers line_fft(const Numbers& v, std::size_t begin, std::size_t stride, int n, int sign) {
  if (n == 1) return {v[begin]};
  const Numbers even = line_fft(v, begin, 2 * stride, n / 2, sign);
  const Numbers odd = line_fft(v, begin + stride, 2 * stride, n / 2, sign);
  Numbers out(static_cast<std::size_t>(n));
  for (int k = 0; k < n / 2; ++k) {
    const auto i = static_cast<std::size_t>(k);
    const auto turned = std::polar(1.0, sign * 2 * pi * k / n) * odd[i];
    out[i] = even[i] + turned;
    out[i + static_cast<std::size_t>(n / 2)] = even[i] - turned;
  }
  return out;
}

/// Unnormalised, along x, of an n x n image.
inline Numbers fft_rows(Numbers image, int n, int sign) {
  const auto size = static_cast<std::size_t>(n);
  for (std::size_t y = 0; y < size; ++y) {
    const Numbers row = line_fft(image, y * size, 1, n, sign);
    for (std::size_t x = 0; x < size; ++x) image[y * size + x] = row[x];
  }
  return image;
}

/// Unnormalised, of an n x n image.
inline Numbers fft_2d(const Numbers& original, int n, int sign) {
  const auto size = static_cast<std::size_t>(n);
  Numbers image = fft_rows(original, n, sign);
  for (std::size_t x = 0; x < size; ++x) {
    const Numbers column = line_fft(image, x, size, n, sign);
    for (std::size_t y = 0; y < size; ++y) image[y * size + x] = column[y];
  }
  return image;
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
  std::size_t area() const { return static_cast<std::size_t>(n) * static_cast<std::size_t>(n); }
};

/// @param most_counts in a pixel; whole numbers if `whole`; many pixels have none
inline Problem make_problem(int n, int n_modes, int n_positions, int n_slots, int most_counts,
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
    c = std::max(0.F, 1.5F * uniform(random) - 0.5F) * static_cast<float>(most_counts);
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

/// What a chunk adds to.
struct Sums {
  Numbers object;
  std::vector<double> illumination;
  Numbers slots;
  std::vector<double> overlap;
  double amplitude[4] = {0, 0, 0, 0};
};

/// One place of the order, in doubles.
struct Window {
  const Problem& p;
  std::size_t position;
  std::size_t slot;

  Window(const Problem& problem, int k)
      : p(problem),
        position(static_cast<std::size_t>(problem.order[static_cast<std::size_t>(k)])),
        slot(static_cast<std::size_t>(problem.slot[static_cast<std::size_t>(k)])) {}

  /// Of the window's pixel i in the object.
  std::size_t pixel(std::size_t i) const {
    const auto n = static_cast<std::size_t>(p.n);
    return (static_cast<std::size_t>(p.corner[2 * position]) + i / n) *
               static_cast<std::size_t>(p.object_w) +
           static_cast<std::size_t>(p.corner[2 * position + 1]) + i % n;
  }
  std::size_t probe_pixel(int m, std::size_t i) const {
    return (slot * static_cast<std::size_t>(p.n_modes) + static_cast<std::size_t>(m)) * p.area() +
           i;
  }
  /// probe of mode m times object, those of the problem or others of the same shape
  Numbers exit_wave(int m, const std::vector<std::complex<float>>& probes,
                    const std::vector<std::complex<float>>& object) const {
    Numbers wave(p.area());
    for (std::size_t i = 0; i < p.area(); ++i)
      wave[i] =
          std::complex<double>(probes[probe_pixel(m, i)]) * std::complex<double>(object[pixel(i)]);
    return wave;
  }
  double measured(std::size_t i) const {
    return static_cast<double>(p.counts[position * p.area() + i]) * p.valid[i];
  }
};

/// By pixel: what turns detector waves into residuals. Unitary transforms.
inline std::vector<double> residual_factor(const Window& window, const std::vector<Numbers>& waves,
                                           double (&sums)[4]) {
  const Problem& p = window.p;
  std::vector<double> factor(p.area());
  for (std::size_t i = 0; i < p.area(); ++i) {
    double intensity = 0;
    for (const Numbers& wave : waves) intensity += std::norm(wave[i]);
    const double measured = window.measured(i);
    const double difference = (std::sqrt(intensity) - std::sqrt(measured)) * p.valid[i];
    factor[i] = -difference / (std::sqrt(intensity) + 1e-10);
    sums[0] += difference * difference;
    sums[1] += std::abs(difference);
    sums[2] += measured;
    sums[3] += std::sqrt(measured);
  }
  return factor;
}

inline Numbers scaled(Numbers values, double factor) {
  for (auto& value : values) value *= factor;
  return values;
}

/// To the detector (sign -1) and back (+1).
inline Numbers unitary(const Numbers& wave, int n, int sign) {
  return scaled(fft_2d(wave, n, sign), 1.0 / n);
}

/// What is missing in the exit waves of place k, of every mode; `sums` as FigureSums.
inline std::vector<Numbers> missing_waves(const Problem& p, int k, double (&sums)[4]) {
  const Window window(p, k);
  std::vector<Numbers> waves;
  for (int m = 0; m < p.n_modes; ++m)
    waves.push_back(unitary(window.exit_wave(m, p.probes, p.object), p.n, -1));
  const std::vector<double> factor = residual_factor(window, waves, sums);
  for (Numbers& wave : waves) {
    for (std::size_t i = 0; i < p.area(); ++i) wave[i] *= factor[i];
    wave = unitary(wave, p.n, 1);
  }
  return waves;
}

/// Adds exit waves of place k, one of every mode: `src/physics/README.md`.
inline void add_waves(const Problem& p, int k, const std::vector<Numbers>& waves, Sums& sums) {
  const Window window(p, k);
  for (int m = 0; m < p.n_modes; ++m)
    for (std::size_t i = 0; i < p.area(); ++i) {
      const std::complex<double> object(p.object[window.pixel(i)]);
      const std::complex<double> probe(p.probes[window.probe_pixel(m, i)]);
      const std::complex<double> wave = waves[static_cast<std::size_t>(m)][i];
      sums.object[window.pixel(i)] += std::conj(probe) * wave;
      sums.illumination[window.pixel(i)] += std::norm(probe);
      sums.slots[window.probe_pixel(m, i)] += std::conj(object) * wave;
      if (m == 0) sums.overlap[i] += std::norm(object);
    }
}

/// Adds place k of the order.
inline void add_place(const Problem& p, int k, Sums& sums) {
  add_waves(p, k, missing_waves(p, k, sums.amplitude), sums);
}

}  // namespace tessera::physics::testing
