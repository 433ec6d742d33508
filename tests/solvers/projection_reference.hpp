#pragma once
/// The projections of projection_solver.hpp in plain double-precision loops.

#include <algorithm>
#include <cmath>
#include <vector>

#include "solvers/projection_solver.hpp"
#include "support/small_scan.hpp"

namespace tessera::solvers::projection_solver_tests {

using tessera::testing::Complex;
using tessera::testing::SmallScan;

constexpr int n_modes = 2;
constexpr int n_positions = 4;

/// a x + b y
inline WaveStack combined(double a, const WaveStack& x, double b, const WaveStack& y) {
  WaveStack sum = x;
  for (std::size_t i = 0; i < sum.size(); ++i) sum.data()[i] = a * x.data()[i] + b * y.data()[i];
  return sum;
}

inline WaveStack reflected(const WaveStack& projected, const WaveStack& wave) {
  return combined(2, projected, -1, wave);
}

inline double power(const WaveStack& waves) {
  return tessera::testing::norm(waves) * tessera::testing::norm(waves);
}

/// The two projections, in the words of projection_solver.hpp.
struct Reference {
  SmallScan& scan;
  settings::Projection options;
  double dark_amplitude = 0;
  std::vector<bool> explained = std::vector<bool>(n_positions, true);  ///< by the probe
  Shape2 window = scan.window;
  const double least_bound =
      options.fourier_relaxation * options.fourier_relaxation / 4 * power(scan.probe);
  double distance_bound = least_bound;
  double total_distance = 0;  ///< of all patterns, by error()
  int n_within_bound = 0;
  int n_beyond_bound = 0;

  WaveStack exit_waves(int j) const {
    return tessera::testing::exit_waves(scan.object, scan.probe, scan.corner[j], scan.subpixel[j]);
  }
  std::vector<WaveStack> exit_waves() const {
    std::vector<WaveStack> waves;
    for (int j = 0; j < n_positions; ++j) waves.push_back(exit_waves(j));
    return waves;
  }

  /// What P_M does not project to: the distance in each pixel of the detector, masked ones 0.
  ImageStack<double> difference(const WaveStack& detector, int j) const {
    return tessera::testing::missing_amplitude(scan, j, detector);
  }
  static double squared_norm(const ImageStack<double>& image) {
    return std::inner_product(image.begin(), image.end(), image.begin(), 0.0);
  }

  WaveStack with_measured_amplitudes(const WaveStack& wave, int j) {
    const WaveStack detector = tessera::testing::dft(wave, -1);
    const WaveStack missing =
        tessera::testing::missing_waves(detector, difference(detector, j), dark_amplitude);
    const double distance = power(missing);
    const bool within = distance <= distance_bound;
    ++(within ? n_within_bound : n_beyond_bound);
    const double share = within ? 0 : 1 - std::sqrt(distance_bound / distance);
    return combined(1, wave, share, tessera::testing::dft(missing, +1));
  }

  void find_object(const std::vector<WaveStack>& waves) {
    tessera::testing::PlainSums sums(scan.object.shape(), n_modes, window);
    for (int j = 0; j < n_positions; ++j)
      sums.add_to_object(tessera::testing::shifted(scan.probe, scan.subpixel[j]), waves[j],
                         scan.corner[j]);
    double max_power = 0;
    for (int y = 0; y < window.h; ++y)
      for (int x = 0; x < window.w; ++x) {
        double power = 0;
        for (int m = 0; m < n_modes; ++m) power += std::norm(scan.probe(m, y, x));
        max_power = std::max(max_power, power);
      }
    for (std::size_t i = 0; i < sums.object.size(); ++i) {
      const double lit = sums.dose.data()[i];
      scan.object.data()[i] += (sums.object.data()[i] - lit * scan.object.data()[i]) /
                               std::max(lit, options.least_power * max_power);
    }
  }

  void find_probe(const std::vector<WaveStack>& waves) {
    tessera::testing::PlainSums sums(scan.object.shape(), n_modes, window);
    for (int j = 0; j < n_positions; ++j)
      if (explained[j])
        sums.add_to_probe(scan.object, combined(1, waves[j], -1, exit_waves(j)), scan.corner[j],
                          scan.subpixel[j]);
    const double max_overlap = *std::ranges::max_element(sums.overlap);
    for (int m = 0; m < n_modes; ++m)
      for (int y = 0; y < window.h; ++y)
        for (int x = 0; x < window.w; ++x) scan.probe(m, y, x) += sums.probe(m, y, x) / max_overlap;
  }

  void find_object_and_probe(const std::vector<WaveStack>& waves, bool moves_probe) {
    find_object(waves);
    if (moves_probe) find_probe(waves);
  }

  double error() {
    total_distance = 0;
    double counts = 0;
    for (int j = 0; j < n_positions; ++j) {
      total_distance += squared_norm(difference(tessera::testing::dft(exit_waves(j), -1), j));
      for (int y = 0; y < window.h; ++y)
        for (int x = 0; x < window.w; ++x)
          if (scan.valid_pixels(0, y, x)) counts += scan.counts(j, y, x);
    }
    return total_distance / counts;
  }

  /// The difference map's, from error() of the epoch that ends.
  void widen_bound() { distance_bound = std::max(least_bound, 0.7 * total_distance / n_positions); }
};

}  // namespace tessera::solvers::projection_solver_tests
