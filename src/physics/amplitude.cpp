#include "tessera/physics/amplitude.hpp"

namespace tessera::physics {
namespace {

constexpr int n_sums = 4;

template <bool replace, class PatternView>
void visit_patterns(const device::Device& exec, ForwardModel& model, const Chunk& chunk,
                    const PatternView& patterns, const device::DeviceView<double*>& scratch,
                    const device::DeviceView<double*>& sums) {
  const auto order = model.scan().order;
  const auto valid = model.scan().valid_pixels;
  const auto waves = model.waves();
  const int n_modes = model.n_modes();
  device::add_pixel_sums<n_sums>(
      exec, "tessera::physics::amplitude", chunk.count, model.scan().window,
      KOKKOS_LAMBDA(const int j, const int y, const int x, double* sum) {
        Real model_intensity = 0;
        for (int m = 0; m < n_modes; ++m) {
          const device::complex wave = waves(j, m, y, x);
          model_intensity += wave.real() * wave.real() + wave.imag() * wave.imag();
        }
        const Real trust = valid(y, x) ? Real(1) : Real(0);
        const Real measured = static_cast<Real>(patterns(order(chunk.begin + j), y, x)) * trust;
        const Real measured_amplitude = device::math::sqrt(measured);
        const Real model_amplitude = device::math::sqrt(model_intensity);
        const Real difference = (model_amplitude - measured_amplitude) * trust;
        sum[0] += static_cast<double>(difference * difference);
        sum[1] += static_cast<double>(device::math::fabs(difference));
        sum[2] += static_cast<double>(measured);
        sum[3] += static_cast<double>(measured_amplitude);
        if (replace) {
          // The floor keeps a pixel that the model leaves dark from dividing by zero.
          const Real factor = -difference / (model_amplitude + Real(1e-10));
          for (int m = 0; m < n_modes; ++m) waves(j, m, y, x) *= factor;
        }
      },
      scratch, sums);
}

template <bool replace>
void visit(const device::Device& exec, ForwardModel& model, const Chunk& chunk,
           const device::DeviceView<double*>& scratch, const device::DeviceView<double*>& sums) {
  if (chunk.count == 0) return;
  std::visit(
      [&](const auto& patterns) {
        visit_patterns<replace>(exec, model, chunk, patterns, scratch, sums);
      },
      model.scan().patterns);
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
  Kokkos::deep_copy(exec, sums_, 0.0);
  exec.fence();
  return {host_(0), host_(1), host_(2), host_(3)};
}

}  // namespace tessera::physics
