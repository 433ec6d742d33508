#include "physics/forward_model.hpp"

#include <algorithm>
#include <string>

#include "forward_kernels.hpp"
#include "kernel_choice.hpp"

namespace tessera::physics {

using device::add_terms;
using device::Device;

namespace {

WavesView waves_of(const std::string& label, const ScanTile& scan, const ModelOptions& options) {
  return WavesView(label, static_cast<std::size_t>(options.chunk_size),
                   static_cast<std::size_t>(options.n_waves()),
                   static_cast<std::size_t>(scan.window.h),
                   static_cast<std::size_t>(scan.window.w));
}

Sizes sizes_with_positions(const Detector& detector, const ScanTile& scan) {
  Sizes sizes = detector.sizes();
  sizes.n_positions = static_cast<int>(scan.order.extent(0));
  sizes.has_subpixel = scan.has_subpixel;
  return sizes;
}

ParameterSlopes parameter_slopes(const ScanTile& scan, const Parameters& parameters,
                                 const ModelOptions& options, const Detector& detector) {
  ParameterSlopes slopes;
  if (options.own_probes)
    slopes.at_position = DeviceView<double** [2]>(
        "tessera::physics::slopes_at_position", scan.order.extent(0),
        static_cast<std::size_t>(ParameterSlopes::opr + options.n_opr_modes));
  if (options.n_slices > 1)
    slopes.optics = DeviceView<double* [2]>("tessera::physics::slopes_of_optics",
                                            2 + parameters.slice_distance_m.extent(0));
  slopes.background = detector.background_slopes();
  slopes.background_on_chip = detector.background_slopes_on_chip();
  return slopes;
}

}  // namespace

ForwardModel::ForwardModel(const ScanTile& scan, const Parameters& parameters,
                           const ModelOptions& options)
    : scan_(scan),
      parameters_(parameters),
      options_(options),
      plan_(scan.window, options.planning),
      detector_(scan, parameters, options),
      kernels_(choose_kernels(detector_.sizes())),
      fuses_slices_(fuses_slices(detector_.sizes())),
      slopes_(parameter_slopes(scan, parameters, options, detector_)),
      illumination_(scan, parameters, options, plan_, kernels_),
      coverage_(sizes_with_positions(detector_, scan)),
      waves_(waves_of("tessera::physics::waves", scan, options)) {
  // On hosts the order is fixed as it is: rows are shared out, positions follow one another.
  options_.fixed_order = options.fixed_order || device::device_is_host;
  if (options.n_slices > 1)
    slices_ = std::make_unique<Slices>(scan_, parameters_, options_, plan_, waves_,
                                       keeps_slices_on_chip(detector_.sizes()));
  if (options.correlates_positions)
    correlation_ = std::make_unique<PositionCorrelation>(scan_, options_, plan_);
  if (options.propagation == Propagation::far_field) return;
  near_field_ = std::make_unique<NearField>(scan_, options_, illumination_, plan_, waves_);
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

std::int64_t ForwardModel::bytes(const Sizes& sizes) {
  const ModelOptions& model = sizes.model;
  const std::int64_t waves = model.chunk_size * sizes.waves_bytes();
  const bool is_far = model.propagation == Propagation::far_field;
  const int n_transformed = std::max(model.chunk_size * model.n_waves(),
                                     sizes.has_slots() ? sizes.n_slots() * model.n_modes : 0);
  const std::int64_t slopes_at_position =
      2 * bytes_of<double>(sizes.n_positions * (ParameterSlopes::opr + model.n_opr_modes));
  return fft::work_bytes(sizes.window, n_transformed) + Detector::bytes(sizes) +
         Illumination::bytes(sizes) + DenseCoverage::bytes(sizes) + waves +
         (model.own_probes ? slopes_at_position : 0) +
         (model.n_slices > 1 ? Slices::bytes(sizes) + 2 * bytes_of<double>(1 + model.n_slices)
                             : 0) +
         (model.correlates_positions ? PositionCorrelation::bytes(model, sizes.window) : 0) +
         (is_far ? 0 : NearField::bytes(sizes) + (model.own_probes ? waves : 0));
}

void ForwardModel::set_probe(const Device& exec, const ProbeView& probe) {
  illumination_.set_probe(exec, probe);
  if (slices_) slices_->set_optics(exec);
}

void ForwardModel::take_parameters(const Device& exec) {
  illumination_.forget_slots();
  if (slices_ && fitted_.any_of_optics()) slices_->set_optics(exec);
}

void ForwardModel::fit(const FittedParameters& fitted) {
  fitted_ = fitted;
  detector_.fit_background(fitted.background);
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
  if (with_probe) add_overlap(exec, object, chunk, sums);
  if (options_.own_probes) illumination_.clear_sums(exec);
  add_terms(exec, "tessera::physics::slot_gradient", n_seen(chunk) * options_.n_modes, scan_.window,
            slot_gradient(object, chunk, waves_, sums, scale));
}

void ForwardModel::add_probe_residual(const Device& exec, const ObjectView& object,
                                      const Chunk& chunk, const WavesView& waves,
                                      bool waves_by_position, const GradientSums& sums) {
  illumination_.shift_probes(exec, chunk);
  add_overlap(exec, object, chunk, sums);
  if (options_.own_probes) illumination_.clear_sums(exec);
  add_terms(exec, "tessera::physics::slot_residual", n_seen(chunk) * options_.n_modes, scan_.window,
            SlotResidual{slot_gradient(object, chunk, waves, sums, 1), illumination_.images(),
                         waves_by_position});
  take_slot_sums(exec, object, chunk, sums, true, {});
}

void ForwardModel::add_overlap(const Device& exec, const ObjectView& object, const Chunk& chunk,
                               const GradientSums& sums) const {
  const std::int64_t plane = static_cast<std::int64_t>(object.extent(1) * object.extent(2));
  add_terms(exec, "tessera::physics::overlap", 1, scan_.window,
            Overlap{windows_of(scan_, options_, chunk, object.extent(2)), object.data(),
                    options_.n_slices * plane, parameters_.intensity, sums.overlap.data(),
                    scan_.window.w, n_beams(chunk), options_.n_object_modes});
}

/// Of the slots that the chunk's positions see.
SlotGradient ForwardModel::slot_gradient(const ObjectView& object, const Chunk& chunk,
                                         const WavesView& waves, const GradientSums& sums,
                                         Real scale) const {
  const std::int64_t plane = static_cast<std::int64_t>(object.extent(1) * object.extent(2));
  return {windows_of(scan_, options_, chunk, object.extent(2)),
          object.data(),
          options_.n_slices * plane,
          images_by(options_.n_modes * options_.n_object_modes, waves),
          illumination_.sums(sums.probe),
          options_.n_modes,
          options_.n_object_modes,
          scale,
          options_.own_probes ? 0 : chunk.seen_begin,
          n_beams(chunk)};
}

int ForwardModel::n_seen(const Chunk& chunk) const {
  return options_.own_probes ? n_beams(chunk) : chunk.seen_end - chunk.seen_begin;
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
