#include "solvers/refinement.hpp"

#include "position_gain.hpp"
#include "scan_frame.hpp"
#include "solvers/batch_sums.hpp"

namespace tessera::solvers {

using device::Device;
using device::DeviceView;
using physics::ParameterSlopes;

namespace {

/// Of slice distances and tilt: a batch sees only a part of what these depend on.
constexpr double shared_step = 0.5;
constexpr double max_tilt_rad = 0.3;
/// Epochs after the first that fits positions, in which those of a near field are not stretched: a
/// stretched scan in a more curved beam explains patterns nearly as well, and comes before the
/// beam is known. Found on simulated cone beams (docs/methods/refinement.md).
constexpr int stretch_held_epochs = 60;

/// Fewer counts of a pixel tell nothing of its background: steps that follow their noise add up,
/// because none goes below 0.
constexpr double least_counts_of_step = 30;

KOKKOS_FUNCTION double bounded(double value, double min, double max) {
  return value < min ? min : value > max ? max : value;
}

/// Slope / curvature of one column, which starts anew.
KOKKOS_FUNCTION double take_step(const DeviceView<double** [2]>& slopes, int position, int column) {
  const double curvature = slopes(position, column, 1);
  const double step = curvature > 0 ? slopes(position, column, 0) / curvature : 0;
  slopes(position, column, 0) = 0;
  slopes(position, column, 1) = 0;
  return step;
}

/// Intensity and background explain the same counts: what is missing of these they share.
double share_of_counts(const physics::FittedParameters& fitted) {
  return fitted.intensity && fitted.background ? 0.5 : 1;
}

bool starts(std::optional<int> from_epoch, int epoch) {
  return from_epoch >= 0 && epoch >= from_epoch;
}

template <class F>
void for_each(const Device& exec, const char* name, std::size_t n, const F& f) {
  Kokkos::parallel_for(device::kernel_name(name),
                       Kokkos::RangePolicy<Device>(exec, 0, static_cast<int>(n)), f);
}

void move_positions(const Device& exec, double step, const DeviceView<double** [2]>& slopes,
                    const ScanFrame& frame) {
  for_each(
      exec, "tessera::solvers::move_positions", frame.displacement.extent(0),
      KOKKOS_LAMBDA(const int position) {
        for (int axis = 0; axis < 2; ++axis) {
          // Half a pixel at a time: farther away the slope says little.
          const double wish = bounded(step * take_step(slopes, position, axis), -0.5, 0.5);
          move_to(frame, position, axis, frame.displacement(position, axis) + wish);
        }
      });
}

void update_beams(const Device& exec, const physics::ForwardModel& model, double intensity_step) {
  const auto slopes = model.slopes().at_position;
  const auto intensity = model.parameters().intensity;
  const auto weight = model.parameters().opr_weight;
  const bool fits_intensity = model.fitted().intensity;
  const bool fits_opr = model.fitted().opr;
  for_each(
      exec, "tessera::solvers::update_beams", slopes.extent(0), KOKKOS_LAMBDA(const int position) {
        if (fits_intensity) {
          const double value =
              intensity(position) +
              intensity_step * take_step(slopes, position, ParameterSlopes::intensity);
          intensity(position) = static_cast<Real>(bounded(value, 0.1, 10));
        }
        if (!fits_opr) return;
        for (int k = 0; k < static_cast<int>(weight.extent(1)); ++k)
          weight(position, k) +=
              static_cast<Real>(take_step(slopes, position, ParameterSlopes::opr + k));
      });
}

/// Towards no background, as a part of it. Where the object is weak, more of the bright field in
/// the background and more contrast in the object explain the patterns as well.
constexpr Real pull = static_cast<Real>(0.005);

void update_background(const Device& exec, const physics::ForwardModel& model, double length,
                       Sweep& sweep) {
  const auto slopes = model.slopes().background;
  const auto background = model.parameters().background;
  sweep.all_reduce_reals(exec, DeviceView<Real*>(slopes.data(), slopes.size()));
  const auto w = static_cast<int>(background.extent(1));
  for_each(
      exec, "tessera::solvers::update_background", background.size(), KOKKOS_LAMBDA(const int i) {
        const int y = i / w;
        const int x = i - y * w;
        const Real curvature = slopes(y, x, 1);
        const Real lacking =
            curvature > 0 ? slopes(y, x, 0) / curvature - pull * background(y, x) : 0;
        const Real value = background(y, x) + static_cast<Real>(length) * lacking;
        background(y, x) = value > 0 ? value : 0;
        slopes(y, x, 0) = 0;
        slopes(y, x, 1) = 0;
      });
}

/// @param first distances between slices at the start
void update_optics(const Device& exec, const physics::ForwardModel& model,
                   const DeviceView<double*>& first, Sweep& sweep) {
  const auto slopes = model.slopes().optics;
  const auto tilt = model.parameters().tilt_rad;
  const auto distance = model.parameters().slice_distance_m;
  sweep.all_reduce(exec, DeviceView<double*>(slopes.data(), slopes.size()));
  for_each(
      exec, "tessera::solvers::update_optics", slopes.extent(0), KOKKOS_LAMBDA(const int row) {
        const double step = slopes(row, 1) > 0 ? shared_step * slopes(row, 0) / slopes(row, 1) : 0;
        slopes(row, 0) = 0;
        slopes(row, 1) = 0;
        if (row < 2) {
          tilt(row) = bounded(tilt(row) + step, -max_tilt_rad, max_tilt_rad);
        } else {
          const double max = 0.2 * first(row - 2);  // a step at a time
          distance(row - 2) = bounded(distance(row - 2) + bounded(step, -max, max),
                                      0.1 * first(row - 2), 10 * first(row - 2));
        }
      });
}

/// Mean intensity 1: the probe takes the rest.
void settle_intensity(const Device& exec, const Unknowns& unknowns, const DeviceView<double*>& sums,
                      Sweep& sweep) {
  const auto intensity = unknowns.parameters.intensity;
  device::set_zero(exec, sums);
  for_each(
      exec, "tessera::solvers::sum_intensity", intensity.size(), KOKKOS_LAMBDA(const int i) {
        Kokkos::atomic_add(&sums(0), static_cast<double>(intensity(i)));
        Kokkos::atomic_add(&sums(1), 1.0);
      });
  sweep.all_reduce(exec, sums);
  for_each(
      exec, "tessera::solvers::scale_intensity", intensity.size(),
      KOKKOS_LAMBDA(const int i) { intensity(i) *= static_cast<Real>(sums(1) / sums(0)); });
  const auto probe = as_reals(unknowns.probe);
  for_each(
      exec, "tessera::solvers::scale_probe", probe.size(), KOKKOS_LAMBDA(const int i) {
        probe(i) *= static_cast<Real>(device::math::sqrt(sums(0) / sums(1)));
      });
}

}  // namespace

Refinement::Refinement(const settings::Refine& settings, const Unknowns& unknowns,
                       physics::ForwardModel& model, const MovingPositions& positions)
    : settings_(settings),
      unknowns_(unknowns),
      model_(model),
      positions_(positions),
      displacement_("tessera::solvers::displacement", positions.given.extent(0)),
      first_distance_m_("tessera::solvers::first_distance",
                        model.parameters().slice_distance_m.extent(0)),
      sums_("tessera::solvers::refinement_sums", ScanFrame::n_sums),
      host_sums_("tessera::solvers::host_refinement_sums", ScanFrame::n_sums) {
  if (first_distance_m_.size() > 0)
    Kokkos::deep_copy(first_distance_m_, model.parameters().slice_distance_m);
  Kokkos::deep_copy(displacement_, positions.at_cut);
  if (model.options().n_opr_modes > 0)
    opr_modes_ = std::make_unique<physics::OprModes>(model.options(), model.scan().window);
  if (model.options().correlates_positions)
    gain_ = std::make_unique<PositionGain>(displacement_.extent(0));
}

Refinement::~Refinement() = default;

std::int64_t Refinement::bytes(const physics::Sizes& sizes) {
  const int n_rows = 4 + (sizes.model.correlates_positions ? 1 : 0);  // the gain's
  return sizes.moves_positions ? n_rows * physics::bytes_of<double>(2 * sizes.n_positions) : 0;
}

Fields Refinement::parameters() const {
  const physics::Parameters& parameters = model_.parameters();
  Fields fields;
  if (model_.options().own_probes)
    fields.push_back(field("intensity", Lives::position, parameters.intensity));
  if (model_.options().n_opr_modes > 0)
    fields.push_back(field("opr_weight", Lives::position, parameters.opr_weight));
  if (parameters.background.size() > 0)
    fields.push_back(field("background", Lives::everywhere, parameters.background));
  if (parameters.slice_distance_m.size() > 0) {
    fields.push_back(field("slice_distance_m", Lives::everywhere, parameters.slice_distance_m));
    fields.push_back(field("beam_tilt_rad", Lives::everywhere, parameters.tilt_rad));
  }
  if (gain_) append(fields, gain_->memory());
  return fields;
}

/// The sub-pixel part has been added up from steps: the displacement does not say its last bits.
Fields Refinement::windows() const {
  if (settings_.positions_from_epoch < 0) return {};
  const int n_sub_positions = model_.options().n_sub_positions;
  Field corner = field("window_whole_px", Lives::position, model_.scan().corner, n_sub_positions);
  corner.origin = positions_.tile_begin;
  return {field("displacement_px", Lives::position, displacement_), corner,
          field("window_subpixel_px", Lives::position, model_.parameters().shift, n_sub_positions)};
}

void Refinement::start_epoch(int epoch, double counts_of_batch, double positions_part) {
  epoch_ = epoch;
  counts_of_batch_ = counts_of_batch;
  positions_part_ = positions_part;
  counts_since_step_ = 0;
  const physics::FittedParameters fitted{
      .positions = starts(settings_.positions_from_epoch, epoch),
      .opr = model_.options().n_opr_modes > 0 && starts(settings_.opr_from_epoch, epoch),
      .intensity = starts(settings_.intensity_from_epoch, epoch),
      .background = starts(settings_.background_from_epoch, epoch),
      .slice_distance = starts(settings_.thickness_from_epoch, epoch),
      .tilt = starts(settings_.tilt_from_epoch, epoch)};
  model_.fit(fitted);
}

ScanFrame Refinement::frame() const {
  return {.given = positions_.given,
          .at_cut = positions_.at_cut,
          .displacement = displacement_,
          .corner = model_.scan().corner,
          .shift = model_.parameters().shift,
          .n_sub_positions = model_.options().n_sub_positions,
          .limit_px = settings_.positions_limit_px,
          .margin_px = settings_.positions_margin_px};
}

void Refinement::update(const Device& exec, Sweep& sweep) {
  const physics::FittedParameters fitted = model_.fitted();
  if (fitted.positions) update_positions(exec);
  const double share = share_of_counts(fitted);
  if (fitted.opr || fitted.intensity) update_beams(exec, model_, share * settings_.intensity_step);
  counts_since_step_ += counts_of_batch_;
  if (fitted.background && counts_since_step_ >= least_counts_of_step) step_background(exec, sweep);
  if (fitted.any_of_optics()) update_optics(exec, model_, first_distance_m_, sweep);
}

void Refinement::update_positions(const Device& exec) {
  const auto slopes = model_.slopes().at_position;
  if (gain_) gain_->remember(exec, slopes);
  const double step = positions_part_ * settings_.positions_step * (gain_ ? gain_->value() : 1);
  move_positions(exec, step, slopes, frame());
}

void Refinement::step_background(const Device& exec, Sweep& sweep) {
  const double share = share_of_counts(model_.fitted());
  update_background(exec, model_, share * settings_.background_step, sweep);
  counts_since_step_ = 0;
}

void Refinement::finish_epoch(const Device& exec, Sweep& sweep) {
  const physics::FittedParameters fitted = model_.fitted();
  if (fitted.background && counts_since_step_ > 0) step_background(exec, sweep);
  if (fitted.positions) settle_positions(exec, sweep);
  if (fitted.intensity) settle_intensity(exec, unknowns_, sums_, sweep);
  if (fitted.opr)
    opr_modes_->settle(exec, unknowns_.probe, model_.parameters().opr_weight,
                       [&](const DeviceView<double*>& sums) { sweep.all_reduce(exec, sums); });
  // Ranks may round differently: what is the same everywhere stays so.
  if (fitted.any_at_position()) sweep.replicate(exec, as_reals(unknowns_.probe));
  const auto background = model_.parameters().background;
  if (fitted.background)
    sweep.replicate(exec, DeviceView<Real*>(background.data(), background.size()));
}

double Refinement::max_drift_px(const Device& exec) const {
  const auto displacement = displacement_;
  const auto at_cut = positions_.at_cut;
  double max = 0;
  Kokkos::parallel_reduce(
      device::kernel_name("tessera::solvers::max_drift"),
      Kokkos::RangePolicy<Device>(exec, 0, static_cast<int>(displacement.size())),
      KOKKOS_LAMBDA(const int i, double& found) {
        const double drift = displacement(i / 2, i % 2) - at_cut(i / 2, i % 2);
        const double length = drift < 0 ? -drift : drift;
        if (length > found) found = length;
      },
      Kokkos::Max<double>(max));
  return max;
}

/// The scan as a whole must not drift: where its mean goes, the probe goes instead, which changes
/// no exit wave. In the near field the probe stands still on the detector, and the object follows;
/// nor must the scan be stretched there at first, which a more curved beam makes up for.
void Refinement::settle_positions(const Device& exec, Sweep& sweep) {
  if (gain_) gain_->finish_epoch(exec, sweep);
  const ScanFrame frame = this->frame();
  frame.add_up(exec, sums_);
  sweep.all_reduce(exec, sums_);
  Kokkos::deep_copy(exec, host_sums_, sums_);
  exec.fence();
  const FrameMotion motion = fitted_motion({host_sums_.data(), ScanFrame::n_sums});
  const bool is_far = model_.options().propagation == physics::Propagation::far_field;
  const bool holds_stretch =
      !is_far && epoch_ < settings_.positions_from_epoch + stretch_held_epochs;
  if (settings_.positions_model == "affine")
    frame.keep_affine(exec, motion);
  else
    frame.take_out(exec, holds_stretch ? motion.without_rotation() : motion.without_matrix());
  if (is_far) physics::shift_images(exec, model_.plan(), unknowns_.probe, motion.mean);
}

}  // namespace tessera::solvers
