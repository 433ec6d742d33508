#include "tessera/optics/start_probe.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/random.hpp"
#include "tessera/base/text.hpp"
#include "tessera/optics/host_fft.hpp"

namespace tessera::optics {
namespace {

using Complex = std::complex<double>;
using std::numbers::pi;

/// Open between two angles.
struct Pupil {
  double inner_rad;
  double outer_rad;
  const Aberrations& aberrations;
};

double power(const Complex* mode, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += std::norm(mode[i]);
  return sum;
}

double power(const WaveStack& probe) {
  return power(probe.data(), static_cast<std::int64_t>(probe.size()));
}

void scale(Complex* mode, std::int64_t n, double factor) {
  for (std::int64_t i = 0; i < n; ++i) mode[i] *= factor;
}

/// How far the farthest ray through the pupil meets the sample from the axis: the gradient of the
/// path, by differences on rings.
double ray_radius_m(const Pupil& pupil) {
  constexpr int n_rings = 16;
  constexpr int n_directions = 64;
  const double step_rad = 1e-4 * pupil.outer_rad;
  double max_m = 0;
  for (int i = 0; i < n_rings * n_directions; ++i) {
    const int ring = 1 + i / n_directions;
    const double radius_rad = pupil.outer_rad * ring / n_rings;
    const double angle_rad = 2 * pi * (i % n_directions) / n_directions;
    const Vec2 at{radius_rad * std::sin(angle_rad), radius_rad * std::cos(angle_rad)};
    const auto path_m = [&](double dy, double dx) {
      return pupil.aberrations.path_m(at + Vec2{dy, dx});
    };
    max_m = std::max(max_m, std::hypot(path_m(step_rad, 0) - path_m(-step_rad, 0),
                                       path_m(0, step_rad) - path_m(0, -step_rad)));
  }
  return max_m / (2 * step_rad);
}

void check(const Pupil& pupil, Shape2 window, double wavelength_m, double pixel_m) {
  const double detector_rad = wavelength_m / (2 * pixel_m);
  if (!(pupil.outer_rad > 0) || pupil.outer_rad > detector_rad)
    throw InputError(text("the probe-forming aperture opens to ", pupil.outer_rad,
                          " rad, but must be > 0 and fit the detector, which ends at ",
                          detector_rad,
                          " rad; check probe.semi_angle_rad or "
                          "probe.outer_zone_width_m, and the detector's pixel and distance"));
  if (pupil.inner_rad < 0 || pupil.inner_rad >= pupil.outer_rad)
    throw InputError(
        text("probe.central_stop_m must be >= 0 and smaller than the zone plate: it "
             "reaches to ",
             pupil.inner_rad, " rad of ", pupil.outer_rad, " rad"));
  const double radius_px = ray_radius_m(pupil) / pixel_m;
  const int half_window_px = std::min(window.h, window.w) / 2;
  if (radius_px > half_window_px)
    throw InputError(text("a defocus of ", pupil.aberrations.defocus_m,
                          " m and the other aberrations make a probe of radius ", radius_px,
                          " px, larger than half the window of ", window.h, " x ", window.w,
                          " px; use a smaller probe.defocus_m or a larger detector"));
}

/// wave(theta) -> its inverse transform with the aberrations, centred.
WaveStack focused(WaveStack wave, double wavelength_m, double pixel_m,
                  const Aberrations& aberrations) {
  const double rad_per_frequency = wavelength_m / pixel_m;
  for (int y = 0; y < wave.h(); ++y)
    for (int x = 0; x < wave.w(); ++x) {
      const Vec2 theta_rad{rad_per_frequency * frequency(y, wave.h()),
                           rad_per_frequency * frequency(x, wave.w())};
      wave(0, y, x) *= std::polar(1.0, -2 * pi / wavelength_m * aberrations.path_m(theta_rad));
    }
  inverse_2d(wave);
  return centred(wave);
}

WaveStack pupil_probe(Shape2 window, double wavelength_m, double pixel_m, const Pupil& pupil) {
  check(pupil, window, wavelength_m, pixel_m);
  const double rad_per_frequency = wavelength_m / pixel_m;
  const double bin_rad = rad_per_frequency / std::min(window.h, window.w);
  auto open_below = [&](double theta_rad, double edge_rad) {
    return std::clamp(0.5 + (edge_rad - theta_rad) / bin_rad, 0.0, 1.0);
  };
  WaveStack wave(1, window);
  for (int y = 0; y < window.h; ++y)
    for (int x = 0; x < window.w; ++x) {
      const double theta_rad =
          rad_per_frequency * std::hypot(frequency(y, window.h), frequency(x, window.w));
      const double stopped = pupil.inner_rad > 0 ? open_below(theta_rad, pupil.inner_rad) : 0.0;
      wave(0, y, x) = open_below(theta_rad, pupil.outer_rad) * (1 - stopped);
    }
  WaveStack probe = focused(std::move(wave), wavelength_m, pixel_m, pupil.aberrations);
  scale_to_counts(probe, 1);
  return probe;
}

/// Mode 0's centre of mass and rms width, pixels.
struct Spread {
  Vec2 centre;
  Vec2 width;
};

Spread spread_of_first_mode(const WaveStack& probe) {
  double total = 0;
  Vec2 first;
  Vec2 second;
  for (int y = 0; y < probe.h(); ++y)
    for (int x = 0; x < probe.w(); ++x) {
      const double weight = std::norm(probe(0, y, x));
      total += weight;
      first = first + weight * Vec2{1.0 * y, 1.0 * x};
      second = second + weight * Vec2{1.0 * y * y, 1.0 * x * x};
    }
  const Vec2 centre = first / total;
  auto rms = [&](double moment, double mean) {
    return std::sqrt(std::max(moment / total - mean * mean, 0.25));
  };
  return {centre, {rms(second.y, centre.y), rms(second.x, centre.x)}};
}

/// Powers of y and x of the k-th new mode, k = 1, 2, ...: (0,1) (1,0) (0,2) (1,1) (2,0) ...
Pixel polynomial_powers(int k) {
  int degree = 1;
  int first = 1;
  while (first + degree + 1 <= k) first += ++degree;
  return {k - first, degree - (k - first)};
}

/// mode = mode 0 * polynomial. The coordinates saturate away from the centre, so that the far tails
/// of the probe are not amplified.
void fill_polynomial_mode(WaveStack& modes, int mode, const Spread& spread, Pixel powers) {
  auto bounded = [](double at_px, double centre, double width) {
    return std::tanh((at_px - centre) / (2 * width));
  };
  for (int y = 0; y < modes.h(); ++y)
    for (int x = 0; x < modes.w(); ++x)
      modes(mode, y, x) = modes(0, y, x) *
                          std::pow(bounded(y, spread.centre.y, spread.width.y), powers.y) *
                          std::pow(bounded(x, spread.centre.x, spread.width.x), powers.x);
}

/// Modified Gram-Schmidt, twice for full precision; the modes before `mode` are orthogonal.
void make_orthogonal_to_earlier(WaveStack& modes, int mode) {
  const std::int64_t n = modes.shape().size();
  for (int pass = 0; pass < 2; ++pass)
    for (int earlier = 0; earlier < mode; ++earlier) {
      const Complex* basis = modes.image(earlier);
      const double basis_power = power(basis, n);
      if (basis_power == 0) continue;
      Complex overlap = 0;
      for (std::int64_t i = 0; i < n; ++i) overlap += std::conj(basis[i]) * modes.image(mode)[i];
      for (std::int64_t i = 0; i < n; ++i) modes.image(mode)[i] -= overlap / basis_power * basis[i];
    }
}

}  // namespace

double Aberrations::path_m(Vec2 theta_rad) const {
  const double theta2 = theta_rad.y * theta_rad.y + theta_rad.x * theta_rad.x;
  const double theta = std::sqrt(theta2);
  const double phi = std::atan2(theta_rad.y, theta_rad.x);
  return theta2 / 2 * (defocus_m + astigmatism_m * std::cos(2 * (phi - astigmatism_angle_rad))) +
         theta2 * theta / 3 * coma_m * std::cos(phi - coma_angle_rad) +
         theta2 * theta2 / 4 * spherical_m;
}

WaveStack aperture_probe(Shape2 window, double wavelength_m, double pixel_m,
                         const ApertureOptics& optics) {
  return pupil_probe(window, wavelength_m, pixel_m, {0, optics.semi_angle_rad, optics.aberrations});
}

WaveStack zone_plate_probe(Shape2 window, double wavelength_m, double pixel_m,
                           const ZonePlateOptics& optics) {
  if (!(optics.diameter_m > 0) || !(optics.outer_zone_width_m > 0))
    throw InputError(
        text("a zone plate needs probe.zone_plate_diameter_m > 0 and "
             "probe.outer_zone_width_m > 0, not ",
             optics.diameter_m, " and ", optics.outer_zone_width_m));
  const double focal_length_m = optics.diameter_m * optics.outer_zone_width_m / wavelength_m;
  return pupil_probe(window, wavelength_m, pixel_m,
                     {optics.central_stop_m / (2 * focal_length_m),
                      optics.diameter_m / (2 * focal_length_m), optics.aberrations});
}

void add_faint_light(WaveStack& probe) {
  constexpr std::uint64_t seed = 1;
  constexpr double share = 1e-6;
  const double amplitude = std::sqrt(share * power(probe) / static_cast<double>(probe.size()));
  for (std::size_t i = 0; i < probe.size(); ++i)
    probe.data()[i] += std::polar(amplitude, 2 * pi * random_unit(seed, i));
}

WaveStack pattern_probe(const ImageStack<double>& intensity, double wavelength_m, double pixel_m,
                        const Aberrations& aberrations) {
  WaveStack wave(1, intensity.shape());
  std::transform(intensity.begin(), intensity.end(), wave.begin(),
                 [](double counts) { return std::sqrt(std::max(counts, 0.0)); });
  return focused(std::move(wave), wavelength_m, pixel_m, aberrations);
}

WaveStack with_extra_modes(const WaveStack& probe, int n_modes, double extra_mode_power) {
  const int n_kept = std::min(probe.n(), n_modes);
  const double extra_power = (n_modes - n_kept) * extra_mode_power;
  if (extra_power >= 1)
    throw InputError(text(n_modes - n_kept, " extra probe modes of ", extra_mode_power,
                          " of the power each leave none to the main mode; use fewer "
                          "probe.n_modes or a smaller power"));
  WaveStack modes(n_modes, probe.shape());
  const std::int64_t n = probe.shape().size();
  std::copy(probe.data(), probe.data() + n_kept * n, modes.data());
  const double total = power(probe);
  scale(modes.data(), n_kept * n, std::sqrt((1 - extra_power) * total / power(modes)));

  const Spread spread = spread_of_first_mode(probe);
  for (int mode = n_kept; mode < n_modes; ++mode) {
    fill_polynomial_mode(modes, mode, spread, polynomial_powers(mode - n_kept + 1));
    make_orthogonal_to_earlier(modes, mode);
    scale(modes.image(mode), n, std::sqrt(extra_mode_power * total / power(modes.image(mode), n)));
  }
  return modes;
}

WaveStack with_opr_modes(const WaveStack& probe, int n_opr_modes, double power) {
  if (n_opr_modes == 0) return probe;
  const std::int64_t n = probe.shape().size();
  WaveStack first(1, probe.shape());
  std::copy_n(probe.data(), n, first.data());
  const WaveStack made = with_extra_modes(first, 1 + n_opr_modes, power / (1 + n_opr_modes));
  WaveStack all(probe.n() + n_opr_modes, probe.shape());
  std::copy_n(probe.data(), probe.size(), all.data());
  std::copy_n(made.image(1), n_opr_modes * n, all.image(probe.n()));
  return all;
}

void scale_to_counts(WaveStack& probe, double counts_per_pattern) {
  const double now = power(probe);
  if (!(now > 0) || !std::isfinite(now))
    throw InputError(text("the probe's power is ", now,
                          "; it must be positive and finite: check the probe's source"));
  scale(probe.data(), static_cast<std::int64_t>(probe.size()), std::sqrt(counts_per_pattern / now));
}

}  // namespace tessera::optics
