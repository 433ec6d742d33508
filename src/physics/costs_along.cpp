#include "physics/costs_along.hpp"

#include "tessera/device/stream.hpp"
#include "tessera/physics/pattern_store.hpp"

#include "device/sums.hpp"
#include "fused_arguments.hpp"
#include "kernel_choice.hpp"
#include "physics/inner_product.hpp"
#include "trusted_row.hpp"

namespace tessera::physics {
namespace {

constexpr int n_costs = CostsAlong::n_costs;
constexpr int n_coefficients = 5;

/// Of the intensity at some pixels of a row, by powers of t.
using Quartics = Real[n_coefficients][device::pixels_at_a_time];

/// A row of the waves of a position at t = 0, 1 and -1.
struct WaveRows {
  const complex* here;
  const complex* ahead;
  const complex* behind;
  std::int64_t stride;
  int n_waves;

  /// Of `n` pixels.
  KOKKOS_FUNCTION void find_quartics(const int first, const int n, Quartics& quartic) const {
    for (auto& of_power : quartic)
      for (int i = 0; i < n; ++i) of_power[i] = 0;
    for (int w = 0; w < n_waves; ++w) {
      const std::int64_t at = w * stride + first;
      TESSERA_INDEPENDENT_ITERATIONS
      for (int i = 0; i < n; ++i) {
        const complex a = here[at + i];
        const complex plus = ahead[at + i] - a;
        const complex minus = behind[at + i] - a;
        const complex b = Real(0.5) * (plus - minus);
        const complex c = Real(0.5) * (plus + minus);
        quartic[0][i] += real_product(a, a);
        quartic[1][i] += 2 * real_product(a, b);
        quartic[2][i] += real_product(b, b) + 2 * real_product(a, c);
        quartic[3][i] += 2 * real_product(b, c);
        quartic[4][i] += real_product(c, c);
      }
    }
  }
};

struct Waves {
  WavesView here;
  WavesView ahead;
  WavesView behind;
  KOKKOS_FUNCTION WaveRows row(const int j, const int y) const {
    return {&here(j, 0, y, 0), &ahead(j, 0, y, 0), &behind(j, 0, y, 0),
            static_cast<std::int64_t>(here.extent(2) * here.extent(3)),
            static_cast<int>(here.extent(1))};
  }
};

/// The coefficients as images, for the point spread.
struct WriteCoefficients {
  Waves waves;
  DeviceView<Real***> images;
  KOKKOS_FUNCTION void operator()(const int j, const int y, const int x) const {
    Quartics quartic;
    waves.row(j, y).find_quartics(x, 1, quartic);
    for (int k = 0; k < n_coefficients; ++k) images(j * n_coefficients + k, y, x) = quartic[k][0];
  }
};

/// A row of such images after the point spread.
struct SpreadRows {
  const Real* images;
  std::int64_t stride;
  KOKKOS_FUNCTION void find_quartics(const int first, const int n, Quartics& quartic) const {
    for (int k = 0; k < n_coefficients; ++k)
      for (int i = 0; i < n; ++i) quartic[k][i] = images[k * stride + first + i];
  }
};

struct Spread {
  DeviceView<Real***> images;
  KOKKOS_FUNCTION SpreadRows row(const int j, const int y) const {
    return {&images(j * n_coefficients, y, 0),
            static_cast<std::int64_t>(images.extent(1) * images.extent(2))};
  }
};

/// Of intensities that are known by Waves or Spread. Of some pixels of a row step by step, as
/// Compare.
template <class Pixels, class Intensities>
struct AddCosts {
  TrustedPatterns patterns;
  Pixels pixels;
  Intensities intensities;
  DeviceView<Real[n_costs]> times;

  struct Row {
    TrustedRow pattern;
    typename Pixels::Row pixels;
    decltype(std::declval<Intensities>().row(0, 0)) intensities;
    const Real* times;

    /// Whose intensity rounding may leave at less than nothing.
    KOKKOS_FUNCTION auto pixel(const int x, const Real intensity) const {
      return pixels.pixel(x, intensity > 0 ? intensity : Real(0));
    }
    KOKKOS_FUNCTION void operator()(const int first, const int last, Real* sum) const {
      const int n = device::count_pixels(first, last);
      Quartics quartic;
      intensities.find_quartics(first, n, quartic);
      const TrustedCounts counted = pattern.read(first, n);
      Real at_zero[device::pixels_at_a_time];
      Real slope = 0;
      TESSERA_INDEPENDENT_ITERATIONS
      for (int i = 0; i < n; ++i) {
        const auto here = pixel(first + i, quartic[0][i]);
        at_zero[i] = here.cost(counted.measured[i]);
        slope += counted.trusted[i] * here.slope(counted.measured[i]) * quartic[1][i];
      }
      sum[n_costs] += slope;
      for (int k = 0; k < n_costs; ++k) {
        const Real t = times[k];
        Real change = 0;
        TESSERA_INDEPENDENT_ITERATIONS
        for (int i = 0; i < n; ++i) {
          Real intensity = 0;
          for (int c = n_coefficients - 1; c >= 0; --c) intensity = intensity * t + quartic[c][i];
          const Real cost = pixel(first + i, intensity).cost(counted.measured[i]);
          change += counted.trusted[i] * (cost - at_zero[i]);
        }
        sum[k] += change;
      }
    }
  };
  KOKKOS_FUNCTION Row row(const int j, const int y) const {
    return {patterns.row(j, y), pixels.row(y), intensities.row(j, y), times.data()};
  }
};

bool fills_chip(const ForwardModel& model, const ObjectView& object, const Chunk& chunk) {
  return hot_path::counts_pixels(static_cast<std::int64_t>(object.size())) &&
         chunk.count >= hot_path::places_worth_the_chip(model.scan().window.w, model.n_modes());
}

}  // namespace

CostsAlong::CostsAlong(ForwardModel& model)
    : model_(model),
      on_chip_(keeps_spectra_on_chip(model.detector().sizes())),
      ahead_("tessera::physics::waves_ahead", model.waves().layout()),
      behind_("tessera::physics::waves_behind", model.waves().layout()),
      point_spread_(model.scan().window, model.options().point_spread_px,
                    n_coefficients * model.chunk_size()),
      scratch_("tessera::physics::costs_scratch", CostsAlong::n_sums) {}

std::int64_t CostsAlong::bytes(const Sizes& sizes) {
  return 2 * sizes.model.chunk_size * sizes.waves_bytes() + bytes_of<double>(CostsAlong::n_sums) +
         PointSpread::bytes(sizes.window, sizes.model.point_spread_px,
                            n_coefficients * sizes.model.chunk_size);
}

void CostsAlong::add(const device::Device& exec, const Line& line, const Chunk& chunk,
                     const DeviceView<Real[n_costs]>& times, const DeviceView<double*>& sums) {
  if (chunk.count == 0) return;
  if (model_.kernels() == Kernels::fused || model_.fused_slices())
    return add_at_once(exec, line, chunk, times, sums);
  find_waves(exec, line.ahead, chunk);
  model_.swap_waves(ahead_);
  find_waves(exec, line.behind, chunk);
  model_.swap_waves(behind_);
  find_waves(exec, line.here, chunk);
  add_of_waves(exec, chunk, times, sums);
}

void CostsAlong::find_waves(const device::Device& exec, const Point& at, const Chunk& chunk) {
  model_.illumination().set_probe(at.probe);
  model_.forward(exec, at.object, chunk);
}

/// Waves are row spectra, or spectra on the chip, which then finds those at t = 0 itself.
void CostsAlong::add_at_once(const device::Device& exec, const Line& line, const Chunk& chunk,
                             const DeviceView<Real[n_costs]>& times,
                             const DeviceView<double*>& sums) {
  const bool on_chip = on_chip_ && fills_chip(model_, line.here.object, chunk);
  const ChunkPatterns measured = model_.detector().counts(exec, chunk);
  const device::Region region("tessera::physics::fused_costs");
  void* const stream = device::stream_handle(exec);
  const hot_path::ScanArrays scan = fused_scan(model_, measured.values);
  const auto see = [&](const Point& at) {
    model_.illumination().set_probe(at.probe);
    model_.illumination().shift_probes(exec, chunk);
    return fused_chunk(model_, at.object, chunk, {}, false);
  };
  const auto find = [&](const hot_path::ChunkArrays& seen, const WavesView& waves) {
    if (on_chip)
      hot_path::find_spectra(stream, scan, seen, static_cast<float>(scan.n), false,
                             plain(waves.data()));
    else if (const Slices* const slices = model_.fused_slices())
      hot_path::exit_rows_of_slices(stream, scan, seen, slices->fused(), plain(waves.data()));
    else
      hot_path::exit_rows(stream, scan, seen, plain(waves.data()));
  };
  find(see(line.ahead), ahead_);
  find(see(line.behind), behind_);
  hot_path::ChunkArrays here = see(line.here);
  if (!on_chip) find(here, model_.waves());
  here.patterns_packed = measured.packed;
  const auto add = on_chip ? hot_path::add_costs_on_chip : hot_path::add_costs;
  add(stream, scan, here,
      {.here = plain(model_.waves().data()),
       .ahead = plain(ahead_.data()),
       .behind = plain(behind_.data()),
       .times = plain(times.data()),
       .sums = sums.data()});
}

/// ahead_, behind_ and the model's waves are those of the line.
void CostsAlong::add_of_waves(const device::Device& exec, const Chunk& chunk,
                              const DeviceView<Real[n_costs]>& times,
                              const DeviceView<double*>& sums) const {
  const ForwardModel& model = model_;
  if (point_spread_.any()) {
    device::for_each_pixel(
        exec, "tessera::physics::write_coefficients", chunk.count, model.scan().window,
        WriteCoefficients{{model.waves(), ahead_, behind_}, point_spread_.images()});
    point_spread_.apply(exec, n_coefficients * chunk.count);
  }
  const ScanTile& scan = model.scan();
  const TrustedPatterns patterns(scan, model.detector().counts(exec, chunk), chunk);
  const auto add_with = [&](const auto& intensities) {
    model.detector().pixels().with_constant_noise([&](const auto& pixels) {
      using Kernel = AddCosts<std::decay_t<decltype(pixels)>, std::decay_t<decltype(intensities)>>;
      device::add_pixel_sums<CostsAlong::n_sums>(
          exec, "tessera::physics::costs_along", chunk.count, scan.window,
          Kernel{patterns, pixels, intensities, times}, scratch_, sums);
    });
  };
  if (point_spread_.any()) return add_with(Spread{point_spread_.images()});
  add_with(Waves{model.waves(), ahead_, behind_});
}

}  // namespace tessera::physics
