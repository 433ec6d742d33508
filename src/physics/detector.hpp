#pragma once
/// The model's last part: the intensity that the detector records of the waves that reach it, and
/// how that compares with what it counted.

#include "tessera/device/device.hpp"
#include "tessera/physics/model_options.hpp"
#include "tessera/physics/pattern_store.hpp"
#include "tessera/physics/scan_tile.hpp"
#include "tessera/physics/sizes.hpp"

#include "physics/figures.hpp"
#include "physics/gradient_sums.hpp"
#include "physics/parameters.hpp"
#include "physics/pixel_model.hpp"
#include "physics/point_spread.hpp"

namespace tessera::physics {

/// I_model of a pattern is the sum over its position's waves, convolved with the point spread, plus
/// the background. Pixels that are not valid, or whose count is saturated, are not trusted: they
/// have no residual and count in no sum.
class Detector {
 public:
  Detector(const ScanTile& scan, const Parameters& parameters, const ModelOptions& options);
  static std::int64_t bytes(const Sizes& sizes);

  /// waves *= -dL/dI on trusted pixels, 0 elsewhere, the negative gradient of the cost L by the
  /// waves. With amplitudes that is sqrt(I_measured / I_model) - 1, what the modulus constraint
  /// adds to the detector wave (Thibault & Menzel 2013, eq. 5). Adds to the figures and, where it
  /// is fitted, to the slopes of the background.
  /// @param waves of the positions of `chunk`, (position of the chunk, image, h, w)
  void replace_by_residual(const device::Device& exec, const WavesView& waves, const Chunk& chunk,
                           const RunningFigures& figures) const;
  /// Adds to the figures alone, and to their cost how much above that of a perfect model it is.
  void measure(const device::Device& exec, const WavesView& waves, const Chunk& chunk,
               const RunningFigures& figures) const;

  /// (position of the chunk, FigureSums): of each position alone, when measure() has seen the
  /// chunk.
  void measure_each(const device::Device& exec, const WavesView& waves, const Chunk& chunk,
                    const device::DeviceView<double * [FigureSums::n_sums]>& sums) const;
  /// (2, h, w): what was counted at the j-th position of `chunk`, -1 where that is not trusted, and
  /// what the model expects. When measure() has seen the chunk.
  void show(const device::Device& exec, const WavesView& waves, const Chunk& chunk, int j,
            const device::DeviceView<Real***>& images) const;

  /// What was counted at the positions of `chunk`.
  ChunkPatterns counts(const device::Device& exec, const Chunk& chunk) const {
    return scan_.patterns->at(exec, chunk);
  }
  /// True where the light of the waves of the probe's modes is compared as it is, perhaps with a
  /// background.
  static bool compares_waves(const Sizes& sizes);
  /// The same, where a comparison says nothing of the background.
  bool compares_waves_alone() const { return compares_waves(sizes()) && !fits_background_; }
  /// Without what the rank's tile and positions decide.
  Sizes sizes() const;

  /// For the comparisons from now on. A model that was made for amplitudes alone keeps to these.
  void set_noise(Noise noise) { options_.noise = noise; }
  Noise noise() const { return options_.noise; }
  void set_dark_amplitude(double amplitude) { options_.dark_amplitude = amplitude; }
  double dark_amplitude() const { return options_.dark_amplitude; }
  PixelModel<> pixels() const { return pixel_model(options_, background_); }
  /// Whether its slopes are added up from now on.
  void fit_background(bool fits) { fits_background_ = fits && has_background_; }
  /// (h, w): ParameterSlopes::background
  const device::DeviceView<Real** [2]>& background_slopes() const { return background_slopes_; }
  /// Of fused kernels: ParameterSlopes.
  const device::DeviceView<Real** [2]>& background_slopes_on_chip() const {
    return background_slopes_on_chip_;
  }

 private:
  template <bool replace>
  void compare(const device::Device& exec, const WavesView& waves, const Chunk& chunk,
               const RunningFigures& figures) const;
  /// f(kernel): what compares the positions of `chunk`, whatever the model.
  template <bool replace, class F>
  void with_comparison(const device::Device& exec, const WavesView& waves, const Chunk& chunk,
                       const F& f) const;
  void add_background_slopes(const device::Device& exec, const Chunk& chunk) const;

  const ScanTile& scan_;
  ModelOptions options_;
  PointSpread point_spread_;  ///< of the intensity, then of its slopes
  bool has_background_;
  device::DeviceView<Real**> background_;  ///< (h, w), counts per pattern; 0 where there is none
  bool fits_background_ = false;
  device::DeviceView<Real** [2]> background_slopes_;
  device::DeviceView<Real** [2]> background_slopes_on_chip_;
  // By position of the chunk, (position, h, w):
  device::DeviceView<Real***> background_slope_;  ///< of a background, by portable kernels
  device::DeviceView<Real***> background_curvature_;
};

}  // namespace tessera::physics
