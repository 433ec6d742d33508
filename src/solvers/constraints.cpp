#include "tessera/solvers/constraints.hpp"

#include <optional>
#include <stdexcept>

#include "tessera/base/text.hpp"
#include "tessera/solvers/batch_sums.hpp"

#include "coverage.hpp"
#include "diffusion.hpp"
#include "object_bounds.hpp"
#include "phase_ramp.hpp"
#include "probe_centring.hpp"
#include "probe_power.hpp"
#include "probe_support.hpp"
#include "total_variation.hpp"

namespace tessera::solvers {

using device::Device;

namespace {

bool needs_coverage(const ConstraintOptions& options) {
  return options.phase_ramp.ever() ||
         (options.object_support.ever() && options.object_support_radius_px == 0);
}

int n_scratch_images(const ConstraintOptions& options) {
  if (options.total_variation.ever()) return 3;
  return options.smoothness.ever() || options.low_pass.ever() || options.probe_centring.ever();
}

bool any_acts(const ConstraintOptions& options, int epoch) {
  for (const Onset& onset :
       {options.amplitude_bounds, options.phase_bounds, options.positive_phase,
        options.object_support, options.l1, options.smoothness, options.low_pass,
        options.total_variation, options.slice_coupling, options.phase_ramp, options.probe_centring,
        options.probe_power, options.probe_aperture, options.probe_support, options.mode_power})
    if (onset.acts(epoch)) return true;
  return false;
}

std::array<ImageView, 3> make_scratch(int n, Shape2 ghosted) {
  std::array<ImageView, 3> scratch;
  for (int i = 0; i < n; ++i)
    scratch[static_cast<std::size_t>(i)] =
        ImageView("tessera::solvers::constraint_scratch", ghosted.h, ghosted.w);
  return scratch;
}

}  // namespace

int ConstraintOptions::ghost_margin_px() const {
  return n_scratch_images(*this) > 0 || phase_ramp.ever() ? 1 : 0;
}

/// Everything that lasts, allocated for what the options ask for.
struct Constraints::Parts {
  Parts(const ConstraintOptions& asked, const ConstrainedTile& tile, fft::Planning planning)
      : options(asked),
        frame{{tile.ghosted, tile.owned}, tile.ghosted.begin, tile.object},
        scratch(make_scratch(n_scratch_images(options), tile.ghosted.shape())),
        total_variation(frame.tile, scratch),
        power(options.n_probe_modes) {
    if (needs_coverage(options)) coverage = make_coverage(tile);
    if (options.phase_ramp.ever()) ramp.emplace(frame, options.n_slices, coverage);
    if (options.probe_centring.ever())
      centring.emplace(frame.tile, options.n_probe_modes, tile.n_probe_images, tile.window,
                       scratch[0]);
    if (options.probe_aperture.ever()) plan.emplace(tile.window, planning);
  }

  void constrain_probe(const Device& exec, Sweep& sweep, const Unknowns& unknowns, int epoch);
  void constrain_object(const Device& exec, Sweep& sweep, const physics::ObjectView& object,
                        int epoch);

  ConstraintOptions options;
  TileFrame frame;
  std::array<ImageView, 3> scratch;
  device::DeviceView<Real**> coverage;
  TotalVariation total_variation;
  ProbePower power;
  std::optional<PhaseRamp> ramp;
  std::optional<ProbeCentring> centring;
  std::optional<fft::Plan> plan;
};

Constraints::Constraints(const ConstraintOptions& options, const ConstrainedTile& tile,
                         fft::Planning planning)
    : parts_(std::make_unique<Parts>(options, tile, planning)) {
  const Box needed =
      intersection(grown(tile.owned, options.ghost_margin_px()), Box::at({0, 0}, tile.object));
  if (!tile.owned.empty() && !tile.ghosted.contains(needed))
    throw std::invalid_argument(
        text("Constraints: the tile holds ", tile.ghosted, " but its stencils reach ", needed));
}

Constraints::~Constraints() = default;

void Constraints::apply(const Device& exec, Sweep& sweep, const Unknowns& unknowns, int epoch) {
  if (!any_acts(parts_->options, epoch)) return;
  const device::Region region("constraints");
  parts_->constrain_probe(exec, sweep, unknowns, epoch);
  parts_->constrain_object(exec, sweep, unknowns.object, epoch);
  // Ranks on other processors may have rounded differently.
  fill_ghosts(exec, sweep, unknowns.object);
  sweep.replicate(exec, as_reals(unknowns.probe));
}

void Constraints::Parts::constrain_probe(const Device& exec, Sweep& sweep, const Unknowns& unknowns,
                                         int epoch) {
  const auto& probe = unknowns.probe;
  if (options.probe_centring.acts(epoch)) centring->step(exec, sweep, unknowns);
  if (options.phase_ramp.acts(epoch)) ramp->move_to_probe(exec, sweep, unknowns);
  if (options.probe_aperture.acts(epoch))
    keep_aperture(exec, *plan, options.probe_aperture_radius_px, probe);
  if (options.probe_support.acts(epoch)) keep_disc(exec, options.probe_support_radius_px, probe);
  if (options.mode_power.acts(epoch)) power.raise_weak_modes(exec, probe, options.least_mode_power);
  if (options.probe_power.acts(epoch))
    power.set(exec, unknowns, options.n_slices, options.probe_power_counts);
}

void Constraints::Parts::constrain_object(const Device& exec, Sweep& sweep,
                                          const physics::ObjectView& object, int epoch) {
  if (options.low_pass.acts(epoch))
    diffuse(exec, sweep, heat_steps(options.low_pass_sigma_px, greatest_heat_step), frame.tile,
            object, scratch[0]);
  if (options.smoothness.acts(epoch))
    diffuse(exec, sweep, {1, static_cast<Real>(options.smoothness_step)}, frame.tile, object,
            scratch[0]);
  if (options.total_variation.acts(epoch))
    for (int plane = 0; plane < static_cast<int>(object.extent(0)); ++plane)
      total_variation.lower(exec, sweep, static_cast<Real>(options.total_variation_weight),
                            plane_of(object, plane));
  if (options.slice_coupling.acts(epoch))
    diffuse_slices(exec, heat_steps(options.slice_coupling_sigma, 2 * greatest_heat_step),
                   options.n_slices, object);
  const ObjectBounds bounds = object_bounds(options, epoch);
  if (bounds.any()) apply_bounds(exec, bounds, frame, coverage, object);
}

std::int64_t Constraints::bytes(const ConstraintOptions& options, Shape2 ghosted, Shape2 window,
                                int n_probe_images) {
  constexpr auto wave_bytes = static_cast<std::int64_t>(sizeof(device::complex));
  constexpr auto real_bytes = static_cast<std::int64_t>(sizeof(Real));
  std::int64_t bytes = n_scratch_images(options) * ghosted.size() * wave_bytes;
  if (needs_coverage(options)) bytes += ghosted.size() * real_bytes;
  if (options.probe_centring.ever()) bytes += n_probe_images * window.size() * wave_bytes;
  if (options.probe_aperture.ever()) bytes += fft::work_bytes(window, n_probe_images);
  return bytes;
}

}  // namespace tessera::solvers
