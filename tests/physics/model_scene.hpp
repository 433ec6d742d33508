#pragma once
/// A random scan of every model, and the plain model of it: intensities, and what they cost against
/// counts.

#include <limits>
#include <random>

#include "physics/forward_model.hpp"
#include "support/small_scan.hpp"

namespace tessera::testing::plain {

inline constexpr Shape2 window{8, 10};
inline constexpr Shape2 object_shape{19, 20};
inline constexpr int n_positions = 4;
inline constexpr double wavelength_m = 2e-12;
inline constexpr double pixel_m = 4e-11;

/// One model with its options.
struct Case {
  const char* name;
  physics::ModelOptions options = {};
  bool has_background = false;
  Real saturation = std::numeric_limits<Real>::infinity();
};

/// The unknowns on the host, in double.
struct Unknown {
  WaveStack object;  ///< (object mode, slice)
  WaveStack probe;   ///< (mode, then OPR mode)
  std::vector<Vec2> shift;
  std::vector<double> opr_weight;
  std::vector<double> intensity;
  std::vector<double> background;
  std::vector<double> distance_m;
  Vec2 tilt_rad;
};

/// A random scan of a case; counts are not those of its truth.
struct Scene {
  Case what = {};
  std::vector<Pixel> corner;  ///< by sub-position
  ImageStack<double> counts{n_positions, window};
  ImageStack<double> valid{1, window};
  Unknown truth;
};

inline double as_real(double value) {
  return static_cast<double>(static_cast<Real>(value));
}

inline Scene make_scene(const Case& what) {
  const physics::ModelOptions& options = what.options;
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  Scene scene;
  scene.what = what;
  scene.truth.object = random_waves(options.n_object_modes * options.n_slices, object_shape, 1);
  for (Complex& o : scene.truth.object) o = 1.0 + 0.25 * o;
  for (Complex& o : scene.truth.object) o = {as_real(o.real()), as_real(o.imag())};
  scene.truth.probe = random_waves(options.n_modes + options.n_opr_modes, window, 2);
  const int n_places = n_positions * options.n_sub_positions;
  for (int i = 0; i < n_places; ++i) {
    scene.corner.push_back({static_cast<int>(random() % 11), static_cast<int>(random() % 10)});
    const bool moves = options.own_probes;
    scene.truth.shift.push_back(
        {moves ? as_real(uniform(random) - 0.5) : 0, moves ? as_real(uniform(random) - 0.5) : 0});
  }
  for (int j = 0; j < n_positions; ++j) {
    scene.truth.intensity.push_back(as_real(0.8 + 0.4 * uniform(random)));
    for (int k = 0; k < options.n_opr_modes; ++k)
      scene.truth.opr_weight.push_back(as_real(uniform(random) - 0.5));
  }
  for (std::int64_t i = 0; i < window.size(); ++i)
    scene.truth.background.push_back(what.has_background ? as_real(3 * uniform(random)) : 0);
  for (int s = 1; s < options.n_slices; ++s)
    scene.truth.distance_m.push_back(3e-10 * (1 + 0.2 * s));
  if (options.n_slices > 1) scene.truth.tilt_rad = {0.03, -0.02};
  for (double& value : scene.counts) value = static_cast<double>(random() % 60);
  for (double& value : scene.valid) value = random() % 8 != 0;
  return scene;
}

inline Complex angular_spectrum(double fy, double fx, double distance_m, Vec2 tilt_rad) {
  const double ky = fy / pixel_m;
  const double kx = fx / pixel_m;
  const double root = 1 / (wavelength_m * wavelength_m) - ky * ky - kx * kx;
  if (root <= 0) return 0;
  const double cycles =
      std::sqrt(root) - 1 / wavelength_m - ky * std::tan(tilt_rad.y) - kx * std::tan(tilt_rad.x);
  return std::polar(1.0, 2 * M_PI * distance_m * cycles);
}

/// Modes of the illumination of one sub-position.
inline WaveStack illumination(const Scene& scene, const Unknown& u, int j, int place) {
  const physics::ModelOptions& options = scene.what.options;
  WaveStack probe(options.n_modes, window);
  const double power = options.own_probes ? u.intensity[j] / options.n_sub_positions : 1;
  for (int m = 0; m < options.n_modes; ++m)
    for (std::int64_t i = 0; i < window.size(); ++i) {
      Complex value = u.probe.image(m)[i];
      if (m == 0)
        for (int k = 0; k < options.n_opr_modes; ++k)
          value +=
              u.opr_weight[j * options.n_opr_modes + k] * u.probe.image(options.n_modes + k)[i];
      probe.image(m)[i] = std::sqrt(power) * value;
    }
  return shifted(probe, u.shift[place]);
}

/// From the last slice of a window whose probe was moved by `shift`, pixels.
inline void to_detector(const physics::ModelOptions& options, Vec2 shift, WaveStack& waves) {
  if (options.propagation == physics::Propagation::far_field) {
    waves = dft(waves, -1);
    return;
  }
  multiply_spectrum(waves, [&](double fy, double fx) {
    const Complex back = std::polar(1.0, 2 * M_PI * (fy * shift.y + fx * shift.x));
    if (options.propagation == physics::Propagation::angular_spectrum)
      return back * angular_spectrum(fy, fx, options.distance_m, {});
    const double k2 = (fy * fy + fx * fx) / (pixel_m * pixel_m);
    return back * std::polar(1.0, -M_PI * wavelength_m * options.distance_m * k2);
  });
}

/// Every pixel's light by a Gaussian of its distance to all others, the window and its images to
/// all sides.
inline WaveStack spread(const WaveStack& sharp, double sigma) {
  WaveStack all(1, sharp.shape());
  const auto [h, w] = sharp.shape();
  double norm = 0;
  for (int dy = -3 * h; dy <= 3 * h; ++dy)
    for (int dx = -3 * w; dx <= 3 * w; ++dx) {
      const double share = std::exp(-(dy * dy + dx * dx) / (2 * sigma * sigma));
      norm += share;
      if (share < 1e-30) continue;
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x)
          all(0, y, x) += share * sharp(0, (y + dy + 3 * h) % h, (x + dx + 3 * w) % w);
    }
  for (std::complex<double>& value : all) value /= norm;
  return all;
}

/// (1, h, w) of position j.
inline ImageStack<double> intensity(const Scene& scene, const Unknown& u, int j) {
  const physics::ModelOptions& options = scene.what.options;
  WaveStack sum(1, window);
  for (int t = 0; t < options.n_sub_positions; ++t)
    for (int o = 0; o < options.n_object_modes; ++o) {
      const int place = j * options.n_sub_positions + t;
      WaveStack waves = illumination(scene, u, j, place);
      for (int s = 0; s < options.n_slices; ++s) {
        if (s > 0)
          multiply_spectrum(waves, [&](double fy, double fx) {
            return angular_spectrum(fy, fx, u.distance_m[s - 1], u.tilt_rad);
          });
        multiply_by_object(waves, u.object, o * options.n_slices + s, scene.corner[place]);
      }
      to_detector(options, u.shift[place], waves);
      const ImageStack<double> seen = testing::intensity(waves);
      for (std::size_t i = 0; i < seen.size(); ++i) sum.data()[i] += seen.data()[i];
    }
  const double sigma = options.point_spread_px;
  if (sigma > 0) sum = spread(sum, sigma);
  ImageStack<double> total(1, window);
  for (std::int64_t i = 0; i < window.size(); ++i)
    total.data()[i] = sum.data()[i].real() + u.background[i];
  return total;
}

inline double pixel_cost(physics::Noise noise, double model, double measured) {
  if (noise == physics::Noise::intensity)
    return model > 2 * measured + 1 ? (2 * model - 3 * measured - 1) / 4
                                    : std::pow(model - measured, 2) / (4 * (measured + 1));
  if (noise == physics::Noise::poisson)
    return (model - measured * std::log(model + static_cast<double>(physics::dark_counts))) / 2;
  if (noise == physics::Noise::stabilised)
    return std::pow(std::sqrt(model + 0.25) - (std::sqrt(measured) + std::sqrt(measured + 1)) / 2,
                    2);
  return std::pow(std::sqrt(model) - std::sqrt(measured), 2);
}

/// @param excess over that of a model that expects what was counted
inline double total_cost(const Scene& scene, const Unknown& u, bool excess = false) {
  double sum = 0;
  const physics::Noise noise = scene.what.options.noise;
  for (int j = 0; j < n_positions; ++j) {
    const ImageStack<double> model = intensity(scene, u, j);
    for (int y = 0; y < window.h; ++y)
      for (int x = 0; x < window.w; ++x) {
        const double counts = scene.counts(j, y, x);
        if (scene.valid(0, y, x) == 0 || counts >= scene.what.saturation) continue;
        sum += pixel_cost(noise, model(0, y, x), counts);
        if (excess) sum -= pixel_cost(noise, counts, counts);
      }
  }
  return sum;
}

}  // namespace tessera::testing::plain
