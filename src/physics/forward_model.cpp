#include "tessera/physics/forward_model.hpp"

#include <limits>
#include <string>

#include "forward_kernels.hpp"

namespace tessera::physics {

using device::add_terms;
using device::Device;

namespace {

bool is_plain_detector(const ScanTile& scan, const Parameters& parameters,
                       const ModelOptions& options) {
  return options.noise == Noise::amplitude && options.point_spread_px == 0 &&
         options.n_waves() == options.n_modes && parameters.background.size() == 0 &&
         scan.saturation == std::numeric_limits<Real>::infinity();
}

bool can_fuse(const ScanTile& scan, const Parameters& parameters, const ModelOptions& options) {
  return is_plain_detector(scan, parameters, options) && options.is_thin_in_far_field() &&
         !options.correlates_positions && !options.fixed_order && sizeof(Real) == sizeof(float) &&
         scan.window.h == scan.window.w && hot_path::supports(scan.window.w, options.n_modes);
}

WavesView waves_of(const std::string& label, const ScanTile& scan, const ModelOptions& options) {
  return WavesView(label, static_cast<std::size_t>(options.chunk_size),
                   static_cast<std::size_t>(options.n_waves()),
                   static_cast<std::size_t>(scan.window.h),
                   static_cast<std::size_t>(scan.window.w));
}

DetectorImages make_detector_images(const ScanTile& scan, const Parameters& parameters,
                                    const ModelOptions& options) {
  const auto n = static_cast<std::size_t>(options.chunk_size);
  const auto h = static_cast<std::size_t>(scan.window.h);
  const auto w = static_cast<std::size_t>(scan.window.w);
  DetectorImages images;
  if (options.point_spread_px > 0)
    images.blurred = DeviceView<complex***>("tessera::physics::blurred", n, h, w);
  if (parameters.background.size() == 0) return images;
  images.slope = DeviceView<Real***>("tessera::physics::background_slope", n, h, w);
  images.curvature = DeviceView<Real***>("tessera::physics::background_curvature", n, h, w);
  return images;
}

/// exp(-2 pi^2 sigma^2 f^2): the spectrum of a Gaussian of `sigma` pixels, with `scale`.
struct Blur {
  DeviceView<complex***> spectra;
  Shape2 shape;
  Real sigma;
  Real scale;
  KOKKOS_FUNCTION void operator()(const int i, const int y, const int x) const {
    const Real fy = static_cast<Real>(signed_bin(y, shape.h)) / static_cast<Real>(shape.h);
    const Real fx = static_cast<Real>(signed_bin(x, shape.w)) / static_cast<Real>(shape.w);
    spectra(i, y, x) *=
        scale * device::math::exp(Real(-2 * M_PI * M_PI) * sigma * sigma * (fy * fy + fx * fx));
  }
};

ParameterSlopes parameter_slopes(const ScanTile& scan, const Parameters& parameters,
                                 const ModelOptions& options) {
  ParameterSlopes slopes;
  if (options.own_probes)
    slopes.at_position = DeviceView<double** [2]>(
        "tessera::physics::slopes_at_position", scan.order.extent(0),
        static_cast<std::size_t>(ParameterSlopes::opr + options.n_opr_modes));
  if (options.n_slices > 1)
    slopes.optics = DeviceView<double* [2]>("tessera::physics::slopes_of_optics",
                                            2 + parameters.slice_distance_m.extent(0));
  if (parameters.background.size() > 0)
    slopes.background =
        DeviceView<Real** [2]>("tessera::physics::slopes_of_background",
                               parameters.background.extent(0), parameters.background.extent(1));
  return slopes;
}

}  // namespace

ForwardModel::ForwardModel(const ScanTile& scan, const Parameters& parameters,
                           const ModelOptions& options)
    : scan_(scan),
      parameters_(parameters),
      options_(options),
      fused_(can_fuse(scan, parameters, options)),
      slopes_(parameter_slopes(scan, parameters, options)),
      plan_(scan.window, options.planning),
      illumination_(scan, parameters, options, fused_),
      waves_(waves_of("tessera::physics::waves", scan, options)),
      detector_images_(make_detector_images(scan, parameters, options)) {
  // On hosts the order is fixed as it is: rows are shared out, positions follow one another.
  options_.fixed_order = options.fixed_order || device::device_is_host;
  if (options.n_slices > 1)
    slices_ = std::make_unique<Slices>(scan_, parameters_, options_, waves_);
  if (options.correlates_positions)
    correlation_ = std::make_unique<PositionCorrelation>(scan_, options_, plan_);
  if (options.propagation == Propagation::far_field) return;
  near_field_ = std::make_unique<NearField>(scan_, options_, illumination_, waves_);
  if (options.own_probes) exit_waves_ = waves_of("tessera::physics::exit_waves", scan, options);
}

ForwardModel::ForwardModel(const ScanTile& scan, int n_modes, int chunk_size, int max_slots,
                           bool fixed_order, fft::Planning planning)
    : ForwardModel(scan, {},
                   {.n_modes = n_modes,
                    .chunk_size = chunk_size,
                    .max_slots = max_slots,
                    .fixed_order = fixed_order,
                    .planning = planning}) {}

void ForwardModel::set_probe(const Device& exec, const ProbeView& probe) {
  illumination_.set_probe(exec, probe);
  if (slices_) slices_->set_optics(exec);
}

bool ForwardModel::has_plain_detector() const {
  return is_plain_detector(scan_, parameters_, options_);
}

void ForwardModel::blur(const Device& exec, const DeviceView<complex***>& images, int n) const {
  plan_.forward(exec, images.data(), n);
  device::for_each_pixel(exec, "tessera::physics::blur", n, scan_.window,
                         Blur{images, scan_.window, static_cast<Real>(options_.point_spread_px),
                              unitary_scale() * unitary_scale()});
  plan_.inverse(exec, images.data(), n);
}

void ForwardModel::forward(const Device& exec, const ObjectView& object, const Chunk& chunk) {
  exit_waves(exec, object, chunk, plan_.unitary_scale());
  to_detector(exec, chunk);
}

void ForwardModel::exit_waves(const Device& exec, const ObjectView& object, const Chunk& chunk,
                              Real scale) {
  illumination_.shift_probes(exec, chunk);
  multiply_by_object(exec, object, chunk, waves_, scale);
  if (slices_) slices_->forward(exec, object, chunk, scale);
}

void ForwardModel::multiply_by_object(const Device& exec, const ObjectView& object,
                                      const Chunk& chunk, const WavesView& waves,
                                      Real scale) const {
  const std::int64_t plane = static_cast<std::int64_t>(object.extent(1) * object.extent(2));
  device::for_each_row_pixel(
      exec, "tessera::physics::exit_waves", chunk.count * options_.n_waves(), scan_.window,
      ExitWaves{windows_of(scan_, options_, chunk, object.extent(2)), object.data(),
                options_.n_slices * plane, illumination_.images(), images_by(1, waves),
                options_.n_modes, options_.n_object_modes, scale});
}

void ForwardModel::to_detector(const Device& exec, const Chunk& chunk) {
  if (near_field_) return near_field_->forward(exec, chunk);
  plan_.forward(exec, waves_.data(), chunk.count * options_.n_waves());
}

void ForwardModel::backward(const Device& exec, const Chunk& chunk) {
  if (near_field_) return near_field_->backward(exec, chunk);
  plan_.inverse(exec, waves_.data(), chunk.count * options_.n_waves());
}

void ForwardModel::add_gradients(const Device& exec, const ObjectView& object, const Chunk& chunk,
                                 const GradientSums& sums, bool with_probe, Real scale) {
  if (slices_) slices_->backward(exec, object, chunk, sums, scale, fitted_, slopes_);
  const int states = options_.n_modes * options_.n_object_modes;
  if (sums.object.data())
    add_object_gradient(exec, chunk, scan_.window, options_,
                        {windows_of(scan_, options_, chunk, object.extent(2)),
                         images_by(states, waves_), illumination_.images(), true, 0},
                        sums, scale);
  FittedParameters by_slope = fitted_;
  if (correlation_ && fitted_.positions) {
    by_slope.positions = false;
    correlation_->add(exec, object, chunk, illumination_.probes(), waves_, scale, slopes_);
  }
  if (with_probe || by_slope.any_at_position())
    add_slot_gradient(exec, object, chunk, sums, with_probe, scale);
  take_slot_sums(exec, object, chunk, sums, with_probe, by_slope);
  if (!near_field_ || !by_slope.positions) return;
  multiply_by_object(exec, object, chunk, exit_waves_, 1);
  near_field_->add_position_slopes(exec, chunk, exit_waves_, scale, slopes_);
}

void ForwardModel::add_slot_gradient(const Device& exec, const ObjectView& object,
                                     const Chunk& chunk, const GradientSums& sums, bool with_probe,
                                     Real scale) {
  const Windows windows = windows_of(scan_, options_, chunk, object.extent(2));
  const std::int64_t plane = static_cast<std::int64_t>(object.extent(1) * object.extent(2));
  const std::int64_t mode_stride = options_.n_slices * plane;
  if (with_probe)
    add_terms(
        exec, "tessera::physics::overlap", 1, scan_.window,
        Overlap{windows, object.data(), mode_stride, parameters_.intensity, sums.overlap.data(),
                scan_.window.w, n_beams(chunk), options_.n_object_modes});
  if (options_.own_probes) illumination_.clear_sums(exec);
  const int first = options_.own_probes ? 0 : chunk.seen_begin;
  const int n_seen = options_.own_probes ? n_beams(chunk) : chunk.seen_end - chunk.seen_begin;
  add_terms(exec, "tessera::physics::slot_gradient", n_seen * options_.n_modes, scan_.window,
            SlotGradient{windows, object.data(), mode_stride,
                         images_by(options_.n_modes * options_.n_object_modes, waves_),
                         illumination_.sums(sums.probe), options_.n_modes, options_.n_object_modes,
                         scale, first, n_beams(chunk)});
}

void ForwardModel::take_slot_sums(const Device& exec, const ObjectView& object, const Chunk& chunk,
                                  const GradientSums& sums, bool with_probe,
                                  const FittedParameters& fitted) {
  if (!with_probe && !fitted.any_at_position()) return;
  if (options_.own_probes || chunk.ends_slots)
    illumination_.gather(exec, chunk, with_probe ? sums.probe : ProbeView());
  if (fitted.any_at_position()) illumination_.add_slopes(exec, object, chunk, fitted, slopes_);
}

}  // namespace tessera::physics
