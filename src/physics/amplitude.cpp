#include "tessera/physics/amplitude.hpp"

#include "tessera/physics/inner_product.hpp"
#include "tessera/physics/pattern_store.hpp"

#include "forward_kernels.hpp"

namespace tessera::physics {
namespace {

constexpr int n_sums = AmplitudeModel::n_sums;

/// Compares |waves| with the measured amplitudes; with `replace` turns the waves into residuals.
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

template <bool replace>
void visit(const device::Device& exec, ForwardModel& model, const Chunk& chunk,
           const device::DeviceView<double*>& scratch, const device::DeviceView<double*>& sums) {
  if (chunk.count == 0) return;
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
  return {host_(0), host_(1), host_(2), host_(3)};
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
