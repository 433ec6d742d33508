/// Positions of the scan (docs/methods/refinement.md).

#include <algorithm>
#include <optional>

#include "parameter_fit.hpp"
#include "physics/opr_modes.hpp"
#include "position_gain.hpp"
#include "scan_frame.hpp"
#include "solvers/prior_width.hpp"

namespace tessera::solvers {
namespace {

using device::Device;
using device::DeviceView;

/// What draws positions to an affine map of where the scan has them.
struct Hold {
  double curvature = 0;
  FrameMotion map;
};

void step_positions(const Device& exec, double step, const Hold& hold,
                    const DeviceView<double** [2]>& slopes, const ScanFrame& frame) {
  for_all(
      exec, "tessera::solvers::step_positions", frame.displacement.extent(0),
      KOKKOS_LAMBDA(const int position) {
        for (int axis = 0; axis < 2; ++axis) {
          hold_back(slopes, position, axis, hold.curvature,
                    frame.displacement(position, axis) - turned(frame, hold.map, position, axis));
          // Half a pixel at a time: farther away the slope says little.
          const double wish = bounded(step * take_step(slopes, position, axis), -0.5, 0.5);
          move_to(frame, position, axis, frame.displacement(position, axis) + wish);
        }
      });
}

void move_to_places(const Device& exec, std::span<const int> positions, std::span<const Vec2> to_px,
                    const ScanFrame& frame) {
  const auto moved =
      device::to_device<DeviceView<int*>>("tessera::solvers::moved_positions", positions.data(),
                                          DeviceView<int*>::array_layout(positions.size()));
  const DeviceView<double* [2]> target("tessera::solvers::position_targets", to_px.size());
  const auto host = Kokkos::create_mirror_view(target);
  for (std::size_t i = 0; i < to_px.size(); ++i) {
    host(i, 0) = to_px[i].y;
    host(i, 1) = to_px[i].x;
  }
  Kokkos::deep_copy(exec, target, host);
  for_all(
      exec, "tessera::solvers::move_to_places", positions.size(), KOKKOS_LAMBDA(const int i) {
        for (int axis = 0; axis < 2; ++axis) move_to(frame, moved(i), axis, target(i, axis));
      });
  exec.fence();
}

double max_drift_of(const Device& exec, const DeviceView<double* [2]>& displacement,
                    const DeviceView<double* [2]>& at_cut) {
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

class PositionFit final : public ParameterFit {
 public:
  PositionFit(const settings::RefinedPositions& settings, const FitSetup& setup)
      : settings_(settings),
        probe_(setup.unknowns.probe),
        model_(setup.model),
        positions_(setup.positions),
        displacement_("tessera::solvers::displacement", positions_.given.extent(0)),
        sums_("tessera::solvers::position_sums", ScanFrame::n_sums),
        host_sums_("tessera::solvers::host_position_sums", ScanFrame::n_sums),
        expected_px_(settings.from_epoch, settings.expected_px, least_expected_px) {
    Kokkos::deep_copy(displacement_, positions_.at_cut);
    if (settings_.from_epoch >= 0)
      gain_ = std::make_unique<PositionGain>(displacement_.extent(0),
                                             correlates() ? 4 : most_beside_kept_waves);
  }

  Fields fields() const override { return gain_ ? gain_->memory() : Fields{}; }

  /// The sub-pixel part has been added up from steps: the displacement does not say its last bits.
  Fields windows() const override {
    if (settings_.from_epoch < 0) return {};
    const int n_sub_positions = model_.options().n_sub_positions;
    Field corner = field("window_whole_px", Lives::position, model_.scan().corner, n_sub_positions);
    corner.origin = positions_.tile_begin;
    return {
        field("displacement_px", Lives::position, displacement_), corner,
        field("window_subpixel_px", Lives::position, model_.parameters().shift, n_sub_positions)};
  }

  bool start_epoch(const RefinedEpoch& epoch, physics::FittedParameters& fitted) override {
    epoch_ = epoch;
    hold_.reset();
    expected_px_.start_epoch(epoch.number);
    return fitted.positions = has_begun(settings_.from_epoch, epoch);
  }

  void update(const Device& exec, Sweep& sweep) override {
    if (!hold_) hold_ = found_hold(exec, sweep);
    const auto slopes = model_.slopes().at_position;
    gain_->remember(exec, slopes);
    const double step = settings_.step * gain();
    step_positions(exec, step, *hold_, slopes, frame());
  }

  /// The scan as a whole must not drift: where its mean goes, the probe goes instead, which changes
  /// no exit wave. In the near field the probe stands still on the detector, and the object
  /// follows; nor may free positions be stretched there: a more curved beam makes up for that.
  void finish_epoch(const Device& exec, Sweep& sweep) override {
    gain_->finish_epoch(exec, sweep);
    const ScanFrame frame = this->frame();
    const FrameMotion motion = motion_of_scan(exec, sweep);
    const bool is_far = model_.options().propagation == physics::Propagation::far_field;
    if (settings_.model == "affine")
      frame.keep_affine(exec, motion);
    else
      frame.take_out(exec, is_far ? motion.without_matrix() : motion.without_rotation());
    if (is_far) physics::shift_images(exec, model_.plan(), probe_, motion.mean);
  }

  std::vector<Vec2> displacements_px(const Device& exec,
                                     std::span<const int> positions) const override {
    const auto host = Kokkos::create_mirror_view(displacement_);
    Kokkos::deep_copy(exec, host, displacement_);
    exec.fence();
    std::vector<Vec2> displacements;
    displacements.reserve(positions.size());
    for (const int position : positions)
      displacements.push_back({host(position, 0), host(position, 1)});
    return displacements;
  }
  void move_positions(const Device& exec, std::span<const int> positions,
                      std::span<const Vec2> to_px) override {
    move_to_places(exec, positions, to_px, frame());
  }

  void put_back(const Device& exec) override {
    frame().keep_affine(exec, {});
    expected_px_.start_anew();
  }

  double max_drift_px(const Device& exec) const override {
    return max_drift_of(exec, displacement_, positions_.at_cut);
  }

 private:
  /// Whole steps swing where a weak phase is seen; positions that all go on may go faster. Why
  /// these: docs/methods/difference_map.md.
  static constexpr double part_beside_kept_waves = 0.5;
  static constexpr double most_beside_kept_waves = 1.5;
  /// Nobody's positions are better known.
  static constexpr double least_expected_px = 0.1;

  bool correlates() const { return model_.options().correlates_positions; }
  /// Of what a step finds. Where it sees the whole error, a whole step is enough at most.
  double gain() const {
    if (correlates()) return gain_->value();
    return epoch_.keeps_waves ? part_beside_kept_waves * gain_->value()
                              : std::min(gain_->value(), 1.0);
  }

  /// Of a Gaussian prior beside the residual's own noise, as wide as positions are found to differ
  /// from an affine map once they have had time to. Waves that are kept bring errors of their own:
  /// there it is about the scan (docs/methods/refinement.md).
  Hold found_hold(const Device& exec, Sweep& sweep) {
    const bool is_free = settings_.model == "free" && !correlates();
    if (!is_free || settings_.expected_px == 0) return {};
    if (epoch_.keeps_waves)
      return {epoch_.pixel_noise / (settings_.expected_px * settings_.expected_px), {}};
    const FrameMotion motion = motion_of_scan(exec, sweep);
    const double expected = expected_px_.of(motion.rest_px);
    return {epoch_.pixel_noise / (expected * expected), motion};
  }

  FrameMotion motion_of_scan(const Device& exec, Sweep& sweep) {
    frame().add_up(exec, sums_);
    sweep.all_reduce(exec, sums_);
    Kokkos::deep_copy(exec, host_sums_, sums_);
    exec.fence();
    return fitted_motion({host_sums_.data(), ScanFrame::n_sums});
  }

  ScanFrame frame() const {
    return {.given = positions_.given,
            .at_cut = positions_.at_cut,
            .displacement = displacement_,
            .corner = model_.scan().corner,
            .shift = model_.parameters().shift,
            .n_sub_positions = model_.options().n_sub_positions,
            .limit_px = settings_.limit_px,
            .margin_px = settings_.margin_px};
  }

  settings::RefinedPositions settings_;
  RefinedEpoch epoch_ = {};
  std::optional<Hold> hold_;  ///< of the epoch
  physics::ProbeView probe_;
  physics::ForwardModel& model_;
  MovingPositions positions_;
  DeviceView<double* [2]> displacement_;
  DeviceView<double*> sums_;
  device::HostView<double*> host_sums_;
  PriorWidth expected_px_;
  std::unique_ptr<PositionGain> gain_;  ///< none where positions are not fitted
};

}  // namespace

template <>
std::unique_ptr<ParameterFit> make_fit(const settings::RefinedPositions& settings,
                                       const FitSetup& setup) {
  return std::make_unique<PositionFit>(settings, setup);
}

/// The scan has given it.
template <>
void start_parameter(const settings::RefinedPositions&, const ParameterStart&,
                     physics::Parameters&) {}

}  // namespace tessera::solvers
