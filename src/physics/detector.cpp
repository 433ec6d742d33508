#include "physics/detector.hpp"

#include "detector_kernels.hpp"
#include "kernel_choice.hpp"

namespace tessera::physics {

using device::Device;

namespace {

constexpr int n_sums = FigureSums::n_sums;

bool is_on_chip(const Sizes& sizes) {
  return keeps_waves_on_chip(sizes) || keeps_slices_on_chip(sizes);
}

}  // namespace

Detector::Detector(const ScanTile& scan, const Parameters& parameters, const ModelOptions& options)
    : scan_(scan),
      options_(options),
      point_spread_(scan.window, options.point_spread_px, options.chunk_size),
      has_background_(parameters.background.size() > 0),
      background_(parameters.background) {
  const int n = options.chunk_size;
  const auto [h, w] = scan.window;
  if (!has_background_) {
    background_ = DeviceView<Real**>("tessera::physics::no_background", h, w);
    return;
  }
  background_slopes_ = DeviceView<Real** [2]>("tessera::physics::slopes_of_background", h, w);
  if (is_on_chip(sizes()))
    background_slopes_on_chip_ =
        DeviceView<Real** [2]>("tessera::physics::background_slopes_on_chip", h, w);
  if (choose_kernels(sizes()) == Kernels::fused) return;
  background_slope_ = DeviceView<Real***>("tessera::physics::background_slope", n, h, w);
  background_curvature_ = DeviceView<Real***>("tessera::physics::background_curvature", n, h, w);
}

std::int64_t Detector::bytes(const Sizes& sizes) {
  const std::int64_t pixels = sizes.window.size();
  const std::int64_t of_chunk = sizes.model.chunk_size * pixels;
  const std::int64_t slopes = choose_kernels(sizes) == Kernels::fused ? 0 : 2 * of_chunk;
  const std::int64_t sums = (is_on_chip(sizes) ? 4 : 2) * pixels;
  return PointSpread::bytes(sizes.window, sizes.model.point_spread_px, sizes.model.chunk_size) +
         bytes_of<Real>(sizes.has_background ? slopes + sums : pixels);
}

bool Detector::compares_waves(const Sizes& sizes) {
  const ModelOptions& model = sizes.model;
  return model.point_spread_px == 0 && model.n_waves() == model.n_modes;
}

Sizes Detector::sizes() const {
  return {
      .model = options_, .window = scan_.window, .ghosted = {}, .has_background = has_background_};
}

void Detector::replace_by_residual(const Device& exec, const WavesView& waves, const Chunk& chunk,
                                   const RunningFigures& figures) const {
  if (chunk.count == 0) return;
  compare<true>(exec, waves, chunk, figures);
  if (fits_background_) add_background_slopes(exec, chunk);
  if (!point_spread_.any()) return;
  point_spread_.apply(exec, chunk.count);
  device::for_each_pixel(exec, "tessera::physics::scale_waves", chunk.count, scan_.window,
                         ScaleWaves{waves, point_spread_.images()});
}

void Detector::measure(const Device& exec, const WavesView& waves, const Chunk& chunk,
                       const RunningFigures& figures) const {
  if (chunk.count == 0) return;
  compare<false>(exec, waves, chunk, figures);
}

template <bool replace>
void Detector::compare(const Device& exec, const WavesView& waves, const Chunk& chunk,
                       const RunningFigures& figures) const {
  if (point_spread_.any()) {
    device::for_each_pixel(exec, "tessera::physics::intensity", chunk.count, scan_.window,
                           SumIntensity{waves, point_spread_.images()});
    point_spread_.apply(exec, chunk.count);
  }
  with_comparison<replace>(exec, waves, chunk, [&](const auto& kernel) {
    device::add_pixel_sums<n_sums>(exec, "tessera::physics::compare", chunk.count, scan_.window,
                                   kernel, figures.scratch(), figures.sums());
  });
}

template <bool replace, class F>
void Detector::with_comparison(const Device& exec, const WavesView& waves, const Chunk& chunk,
                               const F& f) const {
  const DeviceView<Real***> none;
  const TrustedPatterns patterns(scan_, counts(exec, chunk), chunk);
  pixels().with_constant_noise([&](const auto& pixels) {
    f(Compare<replace, std::decay_t<decltype(pixels)>>{
        patterns, pixels, point_spread_.images(), fits_background_ ? background_slope_ : none,
        fits_background_ ? background_curvature_ : none, waves});
  });
}

void Detector::measure_each(const Device& exec, const WavesView& waves, const Chunk& chunk,
                            const DeviceView<double* [n_sums]>& sums) const {
  with_comparison<false>(exec, waves, chunk, [&](const auto& kernel) {
    device::sum_each_image<n_sums>(exec, "tessera::physics::compare_each", chunk.count,
                                   scan_.window, kernel, sums);
  });
}

void Detector::show(const Device& exec, const WavesView& waves, const Chunk& chunk, int j,
                    const DeviceView<Real***>& images) const {
  with_comparison<false>(exec, waves, chunk, [&](const auto& kernel) {
    device::for_each_pixel(exec, "tessera::physics::show", 1, scan_.window,
                           ShowPattern<std::decay_t<decltype(kernel)>>{kernel, images, j});
  });
}

void Detector::add_background_slopes(const Device& exec, const Chunk& chunk) const {
  device::add_terms(exec, "tessera::physics::background_slopes", 2, scan_.window,
                    AddBackgroundSlopes{background_slope_, background_curvature_,
                                        background_slopes_, chunk.count});
}

}  // namespace tessera::physics
