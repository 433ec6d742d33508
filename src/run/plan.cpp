#include "run/plan.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "tessera/device/device.hpp"

#include "decomposition/batch_size.hpp"
#include "optics/deck_optics.hpp"
#include "physics/kernel_choice.hpp"
#include "solvers/constraint_list.hpp"

namespace tessera::run {
namespace {

physics::Propagation propagation_from(const std::string& word) {
  if (word == "fresnel") return physics::Propagation::fresnel;
  if (word == "angular_spectrum") return physics::Propagation::angular_spectrum;
  return physics::Propagation::far_field;
}

/// Every position sees a probe of its own, because its shift or its beam is fitted or it moves.
bool has_own_probes(const deck::Deck& deck) {
  return deck.refine.positions.from_epoch >= 0 || deck.refine.intensity.from_epoch >= 0 ||
         deck.probe.opr_modes > 0 || deck.experiment.fly_sub_positions > 1;
}

int batch_size(const deck::Solver& solver, const geometry::WindowGrid& grid) {
  if (!settings::allows(solver.method, settings::Option::batches)) return 0;
  if (solver.batch_size) return *solver.batch_size;
  const auto n = static_cast<int>(grid.corner.size());
  const double covered = decomposition::covered_windows(grid.corner, grid.window);
  const double usual = settings::default_batch_coverage(solver.method, n / covered);
  return decomposition::batch_size_of(solver.batch_coverage.value_or(usual), covered, n);
}

int widest_batch(std::span<const deck::Solver> solvers) {
  int widest = 0;
  for (const deck::Solver& solver : solvers) {
    if (solver.batch_size == 0) return 0;
    widest = std::max(widest, solver.batch_size.value());
  }
  return widest;
}

/// Its steps are kernels of their own, for the whole scan: starting them costs more than a cache
/// that holds what they hand on saves (README of scaling/, solvers).
bool runs_in_steps(const deck::Deck& deck) {
  return std::ranges::any_of(deck.solvers, [](const deck::Solver& solver) {
    return !settings::allows(solver.method, settings::Option::batches);
  });
}

/// Shifts to which positions are rounded, at most; 0: as many as there are positions.
std::int64_t n_bins(int subpixel_bins) {
  return subpixel_bins == 0 ? 0 : (subpixel_bins + 1) * (subpixel_bins + 1);
}

/// On a host, as many positions as leave room in a second-level cache of 1 MiB for their waves and
/// for what is as large: probes, their sums, parts of the object and of its sums, twice the counts.
/// On a device as many as its own cache holds, and enough to fill it or to be worth many starts;
/// far more where waves stay on the chip, and every start empties it: such a GPU has tens of GiB.
/// What falls on each slice is kept, hence fewer positions of a thick sample: always cheaper than
/// to compute it once more.
int chunk_size(const physics::Sizes& sizes, const deck::Deck& deck, int n_positions) {
  const std::int64_t room_bytes = device::device_is_host ? 128 << 10 : 32 << 20;
  const bool in_steps = runs_in_steps(deck);
  const std::int64_t min = device::device_is_host ? 1 : in_steps ? 1024 : 256;
  const std::int64_t wave_bytes = sizes.waves_bytes() * sizes.model.n_slices;
  const std::int64_t fit = std::max(min, room_bytes / wave_bytes);
  if (device::device_is_host) return static_cast<int>(fit);
  const bool own_probes = sizes.model.own_probes;
  const bool on_chip =
      in_steps ? !own_probes && physics::keeps_spectra_on_chip(sizes)
               : physics::keeps_waves_on_chip(sizes) || physics::keeps_slices_on_chip(sizes);
  // Steps keep up to three waves of a position of the chunk; lsqml, large windows and thick samples
  // are slower in longer ones (decision 8). Without bins every position has room for its shifted
  // probe, for whoever wants it; with probes of their own, for its exit wave, too.
  const bool prefers_shorter =
      in_steps ||
      std::ranges::find(deck.solvers, "lsqml", &deck::Solver::method) != deck.solvers.end();
  const bool bins = n_bins(deck.data.subpixel_bins) > 0;
  const int halvings = (prefers_shorter ? 1 : 0) + (own_probes ? 2 : bins ? 0 : 1);
  const bool prefers_longer = halvings == 0 && sizes.window.w <= 128 && sizes.model.n_slices == 1;
  const std::int64_t on_chip_bytes = std::int64_t{1} << (prefers_longer ? 32 : 31 - halvings);
  constexpr std::int64_t max_bytes = std::int64_t{4} << 30;
  const std::int64_t wanted =
      on_chip ? std::min<std::int64_t>(std::max(fit, on_chip_bytes / wave_bytes), n_positions)
              : fit;
  return static_cast<int>(std::max<std::int64_t>(1, std::min(wanted, max_bytes / wave_bytes)));
}

/// On a device, room for all bins of a batch while it costs little; on a host, for no more than a
/// chunk has, which the cache holds.
int shared_slots(const physics::ModelOptions& model, int subpixel_bins, Shape2 window) {
  if (device::device_is_host) return 0;
  constexpr std::int64_t room_bytes = std::int64_t{1} << 30;
  const auto slot_bytes =
      static_cast<std::int64_t>(2 * window.size() * model.n_modes * sizeof(device::complex));
  return static_cast<int>(std::min(n_bins(subpixel_bins), room_bytes / slot_bytes));
}

/// Slots that the positions of a chunk need, at most.
int slots_of_chunk(int chunk_size, int subpixel_bins) {
  const std::int64_t bins = n_bins(subpixel_bins);
  return static_cast<int>(
      device::device_is_host || bins == 0 ? chunk_size : std::min<std::int64_t>(bins, chunk_size));
}

physics::ModelOptions model_options(const deck::Deck& deck, const geometry::Optics& optics) {
  const deck::Refine& refine = deck.refine;
  physics::ModelOptions model{
      .n_modes = deck.probe.n_modes,
      .n_opr_modes = deck.probe.opr_modes,
      .n_object_modes = deck.object.n_modes,
      .n_slices = deck.object.n_slices,
      .n_sub_positions = deck.experiment.fly_sub_positions,
      .own_probes = has_own_probes(deck),
      .correlates_positions =
          refine.positions.from_epoch >= 0 && refine.positions.method == "cross_correlation",
      .propagation = propagation_from(deck.experiment.propagation),
      .wavelength_m = optics.wavelength_m,
      .pixel_m = optics.pixel_m,
      .distance_m = optics.propagation_m,
      .point_spread_px = deck.experiment.point_spread_px,
      .fixed_order = deck.run.deterministic,
      .planning = deck.run.deterministic ? fft::Planning::reproducible : fft::Planning::measured};
  return model;
}

int chunk_size(const Plan& plan, const deck::Deck& deck, const io::ScanInfo& info) {
  return chunk_size({.model = plan.model,
                     .window = info.pattern,
                     .ghosted = {},
                     .has_background = plan.has_background},
                    deck, info.n_positions);
}

}  // namespace

physics::Noise noise_from(const std::string& word) {
  if (word == "intensity") return physics::Noise::intensity;
  if (word == "poisson") return physics::Noise::poisson;
  return physics::Noise::amplitude;
}

std::string noise_word(physics::Noise noise) {
  switch (noise) {
    case physics::Noise::amplitude:
      return "amplitude";
    case physics::Noise::intensity:
      return "intensity";
    case physics::Noise::poisson:
      return "poisson";
    case physics::Noise::stabilised:
      break;
  }
  return "";
}

Plan make_plan(const deck::Deck& deck, const io::ScanInfo& info) {
  Plan plan;
  plan.optics = optics::optics_of(optics::experiment_as_read(deck), info.pattern);
  plan.model = model_options(deck, plan.optics);
  plan.has_background = info.background.size() > 0 || deck.refine.background.from_epoch >= 0;
  plan.model.chunk_size = chunk_size(plan, deck, info);
  plan.shared_slots = shared_slots(plan.model, deck.data.subpixel_bins, info.pattern);
  plan.model.max_slots =
      std::max(plan.shared_slots, slots_of_chunk(plan.model.chunk_size, deck.data.subpixel_bins));
  plan.window_margin_px = optics::window_margin_px(deck, plan.optics.pixel_m);
  plan.reach_px = optics::window_reach_px(deck, plan.optics.pixel_m);
  plan.tile_margin_px =
      std::max(plan.reach_px, solvers::ConstraintList::ghost_margin_px(deck.constraints));
  plan.max_reals_per_pixel = 3 * plan.model.n_object_modes * plan.model.n_slices;
  return plan;
}

void plan_batches(const deck::Deck& deck, const geometry::WindowGrid& grid, Plan& plan) {
  plan.solvers = deck.solvers;
  for (deck::Solver& solver : plan.solvers) {
    solver.batch_size = batch_size(solver, grid);
    solver.batch_coverage.reset();
  }
  plan.widest_batch = widest_batch(plan.solvers);
}

int Plan::max_in_chunk(std::size_t n_positions) const {
  const int max = std::min(model.chunk_size, static_cast<int>(n_positions));
  return widest_batch == 0 ? max : std::min(max, widest_batch);
}

/// On a host chunks are small, and all ranks plan the same transforms.
physics::ModelOptions Plan::model_for(std::size_t n_positions) const {
  physics::ModelOptions of_rank = model;
  if (device::device_is_host) return of_rank;
  of_rank.chunk_size = std::max(1, max_in_chunk(n_positions));
  of_rank.max_slots = std::min(model.max_slots, std::max(shared_slots, of_rank.chunk_size));
  return of_rank;
}

}  // namespace tessera::run
