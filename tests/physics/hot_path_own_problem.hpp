#pragma once
/// Places with probes for themselves, as plain arrays: what the probes are made of.

#include <ostream>

#include "physics/hot_path_problem.hpp"

namespace tessera::physics::testing {

struct OwnCase {
  int n;
  int n_modes;
  int n_opr;
  int n_positions;
  bool moves_probe = true;
  Noise noise = Noise::amplitude;
};

inline void PrintTo(const OwnCase& c, std::ostream* out) {
  *out << c.n_positions << " x " << c.n << "^2, " << c.n_modes << " modes, " << c.n_opr
       << " OPR modes" << (c.moves_probe ? "" : ", probe kept") << ", noise "
       << static_cast<int>(c.noise);
}

inline constexpr int begin = 1;  // a chunk starts anywhere in the order

/// A problem whose slots are the places' own probes, and what these are made of.
struct OwnProblem {
  OwnCase c;
  Problem p;
  std::vector<Numbers> planes;  ///< spectra, unnormalised: modes, then OPR modes
  std::vector<float> shift;
  std::vector<float> opr_weight;
  std::vector<float> intensity;

  /// @param alike places have intensity 1, and shifts below a pixel
  explicit OwnProblem(const OwnCase& which, bool alike = false)
      : c(which),
        p(make_problem(c.n, c.n_modes, c.n_positions, c.n_positions, 3000, true)),
        planes(make_planes(c, 1)),
        shift(make_shifts(static_cast<std::size_t>(c.n_positions))) {
    if (!alike) shift[2] = 3.4F;  // refined positions go far
    for (int j = 0; j < c.n_positions; ++j) {
      intensity.push_back(alike ? 1.F : 0.7F + 0.1F * static_cast<float>(j % 7));
      for (int k = 0; k < c.n_opr; ++k)
        opr_weight.push_back(0.3F * static_cast<float>((j + 2 * k) % 5 - 2));
    }
    for (int k = 0; k < c.n_positions; ++k) p.slot[static_cast<std::size_t>(k)] = k;
    p.noise = c.noise;
    p.probes = probes();
  }

  static std::vector<Numbers> make_planes(const OwnCase& c, int seed) {
    const Problem others = make_problem(c.n, c.n_modes + c.n_opr, seed, 1, 1, true);
    const auto area = static_cast<std::ptrdiff_t>(others.area());
    std::vector<Numbers> made;
    for (auto first = others.probes.begin(); first != others.probes.end(); first += area)
      made.push_back(fft_2d(Numbers(first, first + area), c.n, -1));
    return made;
  }
  /// (place, mode, n, n)
  std::vector<std::complex<float>> probes() const {
    std::vector<std::complex<float>> made;
    for (int k = 0; k < c.n_positions; ++k)
      for (int m = 0; m < c.n_modes; ++m)
        for (const auto& value : fft_2d(spectrum(k, m), c.n, 1))
          made.emplace_back(value / static_cast<double>(p.area()));
    return made;
  }
  /// One after another, as the kernels take them.
  std::vector<std::complex<float>> spectra() const {
    std::vector<std::complex<float>> all;
    for (const Numbers& plane : planes) all.insert(all.end(), plane.begin(), plane.end());
    return all;
  }

  std::size_t position(int k) const {
    return static_cast<std::size_t>(p.order[static_cast<std::size_t>(k)]);
  }
  double amplitude(int k) const { return std::sqrt(static_cast<double>(intensity[position(k)])); }
  /// Of a plane in the first mode of place k.
  double weight(int k, int plane) const {
    if (plane < c.n_modes) return amplitude(k);
    const auto at = position(k) * static_cast<std::size_t>(c.n_opr) +
                    static_cast<std::size_t>(plane - c.n_modes);
    return amplitude(k) * static_cast<double>(opr_weight[at]);
  }
  double wave_number(int bin) const { return -2 * pi / c.n * (bin < c.n / 2 ? bin : bin - c.n); }
  /// Of frequency i at place k.
  std::complex<double> ramp(int k, int i) const {
    return std::polar(1.0,
                      wave_number(i / c.n) * static_cast<double>(shift[2 * position(k)]) +
                          wave_number(i % c.n) * static_cast<double>(shift[2 * position(k) + 1]));
  }
  /// Of a plane as it falls on place k but for its weight.
  Numbers moved_plane(int k, int plane) const {
    Numbers there = planes[static_cast<std::size_t>(plane)];
    for (int i = 0; i < c.n * c.n; ++i) there[static_cast<std::size_t>(i)] *= ramp(k, i);
    return there;
  }
  /// Of mode m of the probe of place k.
  Numbers spectrum(int k, int m) const {
    Numbers sum(p.area());
    const auto add = [&](int plane) {
      const Numbers there = moved_plane(k, plane);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weight(k, plane) * there[i];
    };
    add(m);
    for (int plane = c.n_modes; m == 0 && plane < c.n_modes + c.n_opr; ++plane) add(plane);
    return sum;
  }
};

}  // namespace tessera::physics::testing
