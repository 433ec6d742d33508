#include "constraints.hpp"

#include <algorithm>
#include <numbers>

namespace tessera::run {
namespace {

solvers::Interval interval(const std::vector<double>& ends) {
  return {ends[0], ends[1]};
}

solvers::Interval phase_interval(const std::vector<double>& ends_rad) {
  return {std::max(ends_rad[0], -std::numbers::pi), std::min(ends_rad[1], std::numbers::pi)};
}

}  // namespace

solvers::ConstraintOptions constraint_options(const deck::Deck& deck, double counts_per_pattern) {
  const deck::Constraints& c = deck.constraints;
  return {
      .n_slices = deck.object.n_slices,
      .n_probe_modes = deck.probe.n_modes,
      .amplitude_bounds = {c.object_amplitude_from_epoch},
      .amplitude = interval(c.object_amplitude),
      .phase_bounds = {c.object_phase_from_epoch},
      .phase_rad = phase_interval(c.object_phase_rad),
      .positive_phase = {c.object_positive_phase_from_epoch},
      .object_support = {c.object_support_from_epoch},
      .object_support_radius_px = c.object_support_radius_px,
      .l1 = {c.object_l1_from_epoch},
      .l1_threshold = c.object_l1,
      .smoothness = {c.object_smoothness_from_epoch},
      .smoothness_step = c.object_smoothness,
      .low_pass = {c.object_low_pass_from_epoch, c.object_low_pass_every},
      .low_pass_sigma_px = c.object_low_pass_sigma_px,
      .total_variation = {c.object_tv_from_epoch, c.object_tv_every},
      .total_variation_weight = c.object_tv,
      .slice_coupling = {c.slice_coupling_from_epoch},
      .slice_coupling_sigma = c.slice_coupling_sigma,
      .phase_ramp = {c.phase_ramp_from_epoch, c.phase_ramp_every},
      .probe_centring = {c.probe_centring_from_epoch},
      .probe_power = {c.probe_power_from_epoch},
      .probe_power_counts = c.probe_power_counts > 0 ? c.probe_power_counts : counts_per_pattern,
      .probe_aperture = {c.probe_aperture_from_epoch},
      .probe_aperture_radius_px = c.probe_aperture_radius_px,
      .probe_support = {c.probe_support_from_epoch},
      .probe_support_radius_px = c.probe_support_radius_px,
      .mode_power = {c.probe_mode_power_from_epoch},
      .least_mode_power = c.probe_least_mode_power,
  };
}

solvers::ConstrainedTile constrained_tile(const Scan& scan, int n_probe_images) {
  return {scan.tile().owned, scan.tile().ghosted, scan.grid.object,
          scan.grid.window,  n_probe_images,      scan.grid.corner};
}

int tile_margin_px(const deck::Deck& deck, int reach_px) {
  return std::max(reach_px, constraint_options(deck, 0).ghost_margin_px());
}

}  // namespace tessera::run
