#include "tessera/physics/amplitude.hpp"

#include "tessera/device/sums.hpp"
#include "tessera/physics/inner_product.hpp"
#include "tessera/physics/pattern_store.hpp"

#include "trusted_row.hpp"

namespace tessera::physics {
namespace {

constexpr int n_sums = AmplitudeModel::n_sums;

/// The plain model: compares |waves| with the measured amplitudes; with `replace` turns the waves
/// into residuals.
template <bool replace, int known_modes, class PatternView>
struct CompareAmplitudes {
  PatternView patterns;
  DeviceView<int*> order;
  DeviceView<Real**> valid;
  WavesView waves;
  int n_modes;
  int chunk_begin;
  bool packed;

  using Count = typename PatternView::value_type;
  struct Row {
    const Count* counts;
    const Real* valid;
    complex* wave;
    std::int64_t mode_stride;
    int n_modes;
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      const int n = known_modes > 0 ? known_modes : n_modes;
      Real model_intensity = 0;
      for (int m = 0; m < n; ++m) model_intensity += squared_magnitude(wave[m * mode_stride + x]);
      const Real measured = static_cast<Real>(counts[x]) * valid[x];
      const Real measured_amplitude = device::math::sqrt(measured);
      const Real model_amplitude = device::math::sqrt(model_intensity);
      const Real difference = (model_amplitude - measured_amplitude) * valid[x];
      sum[0] += difference * difference;
      sum[1] += device::math::fabs(difference);
      sum[2] += measured;
      sum[3] += measured_amplitude;
      sum[4] += difference * difference;
      sum[5] += valid[x];
      if constexpr (replace) {
        // The floor keeps a pixel that the model leaves dark from dividing by zero.
        const Real factor = -difference / (model_amplitude + Real(1e-10));
        for (int m = 0; m < n; ++m) {
          wave[m * mode_stride + x].real() *= factor;
          wave[m * mode_stride + x].imag() *= factor;
        }
      }
    }
  };
  KOKKOS_FUNCTION Row row(const int j, const int y) const {
    const int pattern = packed ? j : order(chunk_begin + j);
    return {&patterns(pattern, y, 0), &valid(y, 0), &waves(j, 0, y, 0),
            static_cast<std::int64_t>(waves.extent(2) * waves.extent(3)), n_modes};
  }
};

/// Any model. With a point spread `images` hold the blurred intensity, which becomes the slope; the
/// waves are left to ScaleWaves then.
template <bool replace, class PatternView>
struct Compare {
  TrustedPatterns<PatternView> patterns;
  DeviceView<Real**> background;
  DetectorImages images;
  WavesView waves;
  Noise noise;

  struct Row {
    TrustedRow<typename PatternView::value_type> pattern;
    const Real* background;
    complex* blurred;
    Real* slopes;
    Real* curvatures;
    complex* wave;
    std::int64_t wave_stride;
    int n_waves;
    Noise noise;

    KOKKOS_FUNCTION Real intensity(const int x) const {
      Real sum = background ? background[x] : Real(0);
      // Rounding leaves a blurred pixel at or below 0, where slopes have no bound.
      if (blurred) return sum + (blurred[x].real() > dark_counts ? blurred[x].real() : dark_counts);
      for (int i = 0; i < n_waves; ++i) sum += squared_magnitude(wave[i * wave_stride + x]);
      return sum;
    }
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      const Real trusted = pattern.trust(x);
      const Real model = intensity(x);
      const Real measured = trusted > 0 ? static_cast<Real>(pattern.counts[x]) : Real(0);
      const Real amplitude = device::math::sqrt(measured);
      const Real difference = (device::math::sqrt(model) - amplitude) * trusted;
      sum[0] += difference * difference;
      sum[1] += device::math::fabs(difference);
      sum[2] += measured;
      sum[3] += amplitude;
      sum[4] += trusted * cost(noise, model, measured);
      sum[5] += trusted;
      if constexpr (replace) {
        const Real slope_here = trusted * slope(noise, model, measured);
        if (slopes) {
          slopes[x] = -slope_here;
          curvatures[x] = trusted * background_curvature(model, measured);
        }
        if (blurred) {
          blurred[x] = complex(slope_here);
        } else {
          for (int i = 0; i < n_waves; ++i) wave[i * wave_stride + x] *= -slope_here;
        }
      }
    }
    /// Half the expected second derivative, as the slope is half the first: a pixel without counts
    /// says as much about a background as one count does.
    KOKKOS_FUNCTION static Real background_curvature(const Real model, const Real measured) {
      return Real(0.5) / ((model > measured ? model : measured) + 1);
    }
  };
  KOKKOS_FUNCTION Row row(const int j, const int y) const {
    const bool is_fitted = replace && images.slope.size() > 0;
    return {patterns.row(j, y),
            background.size() > 0 ? &background(y, 0) : nullptr,
            images.blurred.size() > 0 ? &images.blurred(j, y, 0) : nullptr,
            is_fitted ? &images.slope(j, y, 0) : nullptr,
            is_fitted ? &images.curvature(j, y, 0) : nullptr,
            &waves(j, 0, y, 0),
            static_cast<std::int64_t>(waves.extent(2) * waves.extent(3)),
            static_cast<int>(waves.extent(1)),
            noise};
  }
};

/// Image j = sum of |waves|^2 of position j.
struct SumIntensity {
  WavesView waves;
  DeviceView<complex***> images;
  KOKKOS_FUNCTION void operator()(const int j, const int y, const int x) const {
    Real sum = 0;
    for (int i = 0; i < static_cast<int>(waves.extent(1)); ++i)
      sum += squared_magnitude(waves(j, i, y, x));
    images(j, y, x) = complex(sum);
  }
};

struct ScaleWaves {
  WavesView waves;
  DeviceView<complex***> slope;
  KOKKOS_FUNCTION void operator()(const int j, const int y, const int x) const {
    for (int i = 0; i < static_cast<int>(waves.extent(1)); ++i)
      waves(j, i, y, x) *= -slope(j, y, x).real();
  }
};

/// Adds all positions' slopes and curvatures by the background.
struct AddBackgroundSlopes {
  DetectorImages images;
  DeviceView<Real** [2]> slopes;
  int n_positions;
  struct Row {
    const Real* term;
    KOKKOS_FUNCTION Real operator()(const int x) const { return term[x]; }
  };
  struct Sums {
    Real* first;
    KOKKOS_FUNCTION Real& operator[](const int x) const { return first[2 * x]; }
  };
  KOKKOS_FUNCTION device::TermRange terms(int) const { return {0, n_positions}; }
  KOKKOS_FUNCTION Row row(const int j, const int i, const int y) const {
    return {i == 0 ? &images.slope(j, y, 0) : &images.curvature(j, y, 0)};
  }
  KOKKOS_FUNCTION Sums sums(const int i, const int y) const { return {&slopes(y, 0, i)}; }
};

template <bool replace>
void visit_plain(const device::Device& exec, ForwardModel& model, const Chunk& chunk,
                 const DeviceView<double*>& scratch, const DeviceView<double*>& sums) {
  const ChunkPatterns measured = model.scan().patterns->at(exec, chunk);
  std::visit(
      [&](const auto& patterns) {
        with_known_modes(model.n_modes(), [&](auto known) {
          using Kernel = CompareAmplitudes<replace, known, std::decay_t<decltype(patterns)>>;
          device::add_pixel_sums<n_sums>(
              exec, "tessera::physics::amplitude", chunk.count, model.scan().window,
              Kernel{patterns, model.scan().order, model.scan().valid_pixels, model.waves(),
                     model.n_modes(), chunk.begin, measured.packed},
              scratch, sums);
        });
      },
      measured.values);
}

template <bool replace>
void visit_any(const device::Device& exec, ForwardModel& model, const Chunk& chunk,
               const DeviceView<double*>& scratch, const DeviceView<double*>& sums) {
  const ScanTile& scan = model.scan();
  DetectorImages images = model.detector_images();
  if (images.blurred.size() > 0) {
    device::for_each_pixel(exec, "tessera::physics::intensity", chunk.count, scan.window,
                           SumIntensity{model.waves(), images.blurred});
    model.blur(exec, images.blurred, chunk.count);
  }
  if (!model.fitted().background) images.slope = images.curvature = {};
  const ChunkPatterns measured = scan.patterns->at(exec, chunk);
  std::visit(
      [&](const auto& patterns) {
        using Kernel = Compare<replace, std::decay_t<decltype(patterns)>>;
        device::add_pixel_sums<n_sums>(exec, "tessera::physics::compare", chunk.count, scan.window,
                                       Kernel{{scan, patterns, chunk, measured.packed},
                                              model.parameters().background,
                                              images,
                                              model.waves(),
                                              model.options().noise},
                                       scratch, sums);
      },
      measured.values);
  if (!replace) return;
  if (images.slope.size() > 0)
    device::add_terms(exec, "tessera::physics::background_slopes", 2, scan.window,
                      AddBackgroundSlopes{images, model.slopes().background, chunk.count});
  if (images.blurred.size() == 0) return;
  model.blur(exec, images.blurred, chunk.count);
  device::for_each_pixel(exec, "tessera::physics::scale_waves", chunk.count, scan.window,
                         ScaleWaves{model.waves(), images.blurred});
}

template <bool replace>
void visit(const device::Device& exec, ForwardModel& model, const Chunk& chunk,
           const DeviceView<double*>& scratch, const DeviceView<double*>& sums) {
  if (chunk.count == 0) return;
  if (model.has_plain_detector())
    visit_plain<replace>(exec, model, chunk, scratch, sums);
  else
    visit_any<replace>(exec, model, chunk, scratch, sums);
}

}  // namespace

AmplitudeModel::AmplitudeModel()
    : sums_("tessera::physics::amplitude_sums", n_sums),
      scratch_("tessera::physics::amplitude_scratch", n_sums),
      host_("tessera::physics::amplitude_host", n_sums) {}

void AmplitudeModel::replace_by_residual(const device::Device& exec, ForwardModel& model,
                                         const Chunk& chunk) {
  visit<true>(exec, model, chunk, scratch_, sums_);
}

void AmplitudeModel::measure(const device::Device& exec, ForwardModel& model, const Chunk& chunk) {
  visit<false>(exec, model, chunk, scratch_, sums_);
}

AmplitudeSums AmplitudeModel::take_sums(const device::Device& exec) {
  Kokkos::deep_copy(exec, host_, sums_);
  device::set_zero(exec, sums_);
  exec.fence();
  return {host_(0), host_(1), host_(2), host_(3), host_(4), host_(5)};
}

void AmplitudeModel::take_sums(const device::Device& exec,
                               const device::DeviceView<double*>& taken) {
  const auto sums = sums_;
  Kokkos::parallel_for(
      device::kernel_name("tessera::physics::take_sums"),
      Kokkos::RangePolicy<device::Device>(exec, 0, n_sums), KOKKOS_LAMBDA(const int k) {
        taken(k) = sums(k);
        sums(k) = 0;
      });
}

}  // namespace tessera::physics
