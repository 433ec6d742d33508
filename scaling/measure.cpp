#include "measure.hpp"

#include <chrono>
#include <ctime>

namespace tessera::scaling {
namespace {

using device::complex;
using device::Device;
using Range = Kokkos::RangePolicy<Device, Kokkos::IndexType<std::int64_t>>;

constexpr int n_runs = 5;

/// Noise of magnitude about 1: processors and GPUs are faster, or draw less power, with zeros.
struct FillWithNoise {
  complex* values;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    const auto bits = static_cast<std::uint32_t>(i) * 2654435769u;
    values[i] = complex(Real(bits >> 16) / Real(32768) - 1, Real(bits & 0xffff) / Real(32768) - 1);
  }
};

struct Scale {
  complex* values;
  Real factor;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const { values[i] *= factor; }
};

/// Chains of multiply-adds that do not wait for each other: enough of them to fill the vector units
/// of a processor; on a GPU the threads are the vector.
struct MultiplyAdd {
  static constexpr int n_chains = device::device_is_host ? 128 : 16;
  static constexpr int n_steps = 512;
  Real* results;
  Real factor;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    Real chain[n_chains];
    for (int k = 0; k < n_chains; ++k) chain[k] = Real(k) + results[i];
    for (int step = 0; step < n_steps; ++step)
      for (int k = 0; k < n_chains; ++k) chain[k] = chain[k] * factor + Real(0.5);
    Real sum = 0;
    for (int k = 0; k < n_chains; ++k) sum += chain[k];
    results[i] = sum;
  }
};

double copy_bytes_per_s(const Device& exec, int n_ranks) {
  constexpr std::size_t least_bytes = 16 << 20;  // more than a core has of a cache
  std::size_t n_bytes = std::size_t{1} << (device::device_is_host ? 28 : 30);
  if (device::device_is_host)
    n_bytes = std::max(least_bytes, n_bytes / static_cast<std::size_t>(n_ranks));
  const device::DeviceView<complex*> from("tessera::scaling::from", n_bytes / sizeof(complex));
  const device::DeviceView<complex*> to("tessera::scaling::to", from.extent(0));
  Kokkos::parallel_for("tessera::scaling::noise",
                       Range(exec, 0, static_cast<std::int64_t>(from.size())),
                       FillWithNoise{from.data()});
  const double seconds = median_seconds(exec, n_runs, [&] { Kokkos::deep_copy(exec, to, from); });
  return 2 * static_cast<double>(n_bytes) / seconds;
}

double multiply_adds_per_s(const Device& exec) {
  const std::int64_t n = device::device_is_host ? 1 << 10 : 1 << 22;
  const device::DeviceView<Real*> results("tessera::scaling::results", static_cast<std::size_t>(n));
  const double seconds = median_seconds(exec, n_runs, [&] {
    Kokkos::parallel_for("tessera::scaling::multiply_add", Range(exec, 0, n),
                         MultiplyAdd{results.data(), Real(0.999)});
  });
  return static_cast<double>(n) * MultiplyAdd::n_chains * MultiplyAdd::n_steps / seconds;
}

}  // namespace

Roof measure_roof(const Device& exec, int n_ranks) {
  return {copy_bytes_per_s(exec, n_ranks), 2 * multiply_adds_per_s(exec)};
}

double wall_s() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

double work_s() {
  if (!device::device_is_host) return wall_s();
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Reference median(const std::vector<Reference>& rounds) {
  const auto of = [&](double Reference::* figure) {
    std::vector<double> values;
    for (const Reference& round : rounds) values.push_back(round.*figure);
    return median(values);
  };
  return {of(&Reference::transforms_s), of(&Reference::transforms_and_pass_s)};
}

BareTransforms::BareTransforms(const Device& exec, const physics::WavesView& waves, int n_positions)
    : waves_(waves),
      n_positions_(n_positions),
      window_{static_cast<int>(waves.extent(2)), static_cast<int>(waves.extent(3))},
      plan_(window_, fft::Planning::measured) {
  Kokkos::parallel_for("tessera::scaling::noise",
                       Range(exec, 0, static_cast<std::int64_t>(waves.size())),
                       FillWithNoise{waves.data()});
}

/// f(images of the chunk)
template <class F>
void BareTransforms::for_chunks(const F& f) const {
  const auto chunk = static_cast<int>(waves_.extent(0));
  const auto n_modes = static_cast<int>(waves_.extent(1));
  for (int done = 0; done < n_positions_; done += chunk)
    f(std::min(chunk, n_positions_ - done) * n_modes);
}

void BareTransforms::scale_by(const Device& exec, Real factor, int n_images) const {
  Kokkos::parallel_for("tessera::scaling::scale", Range(exec, 0, n_images * window_.size()),
                       Scale{waves_.data(), factor});
}

/// Two unscaled transforms multiply the waves by their number of pixels: the pass over the waves
/// divides it away again, so that they stay what they were.
Reference BareTransforms::once(const Device& exec, Clock* clock) const {
  const Real back = 1 / static_cast<Real>(window_.size());
  const double transforms_and_pass_s = seconds_of(
      exec,
      [&] {
        for_chunks([&](int n) {
          plan_.forward(exec, waves_.data(), n);
          plan_.inverse(exec, waves_.data(), n);
          scale_by(exec, back, n);
        });
      },
      clock);
  const double pass_s =
      seconds_of(exec, [&] { for_chunks([&](int n) { scale_by(exec, Real(-1), n); }); }, clock);
  return {transforms_and_pass_s - pass_s, transforms_and_pass_s};
}

Reference BareTransforms::median_of_rounds(const Device& exec) const {
  once(exec);
  std::vector<Reference> rounds;
  for (int i = 0; i < n_runs; ++i) rounds.push_back(once(exec));
  return median(rounds);
}

}  // namespace tessera::scaling
