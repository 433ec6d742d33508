#include "set_up.hpp"

#include <algorithm>

#include "comm/ranks_of.hpp"
#include "decomposition/even_sample.hpp"
#include "fft/shared_plans.hpp"
#include "halo/choose_transport.hpp"
#include "physics/kernel_choice.hpp"
#include "solvers/methods.hpp"

namespace tessera::run {
namespace {

/// Whether windows of this rank's positions reach pixels that others own.
std::vector<bool> on_border(const Scan& scan) {
  std::vector<bool> reaches;
  for (std::size_t i = 0; i < scan.near.positions.size(); ++i)
    if (scan.near.tile_of[i] == scan.rank)
      reaches.push_back(
          !scan.tile().owned.contains(Box::at(scan.near.corner[i], scan.near.window)));
  return reaches;
}

std::unique_ptr<halo::Transport> make_transport(const deck::Deck& deck, const Scan& scan,
                                                const comm::Communicator& comm, const Log& log) {
  const decomposition::HaloPlan plan = decomposition::make_halo_plan(scan.tiling, comm.rank());
  const std::int64_t n_summed_reals =
      (2 * scan.plan.n_probe_images() + 1) * scan.info.pattern.size();
  return halo::choose_transport(deck.decomposition.transport, comm,
                                deck.decomposition.transport_timeout_s,
                                {plan, scan.plan.max_reals_per_pixel, n_summed_reals}, log);
}

/// One rank of a host measures which transforms are fastest: all at once would disturb one another,
/// and might choose differently. Collective.
void share_plans(const physics::ModelOptions& model, Shape2 window,
                 const comm::Communicator& comm) {
  if (model.planning != fft::Planning::measured) return;
  const comm::Communicator host = comm::ranks_of_host(comm);
  std::string plans;
  comm.together([&] {
    if (host.is_root()) plans = fft::measured_plans(window);
  });
  host.broadcast(plans);
  if (!host.is_root()) fft::take_plans(plans);
}

/// Adds to `share` the positions whose waves tell how far steps go.
void add_sample(const deck::Solver& solver, const Scan& scan,
                const decomposition::BatchSchedule& schedule, solvers::ScanShare& share) {
  const solvers::Sampling sampling = solvers::sampling(solver);
  if (sampling.fewest == 0) return;
  const std::vector<bool> sample =
      decomposition::even_sample(schedule, scan.grid.corner, sampling.fewest, solver.seed);
  if (sample.empty()) return;
  for (const int position : share.positions)
    share.sampled.push_back(sample[static_cast<std::size_t>(position)]);
  share.positions_per_sampled =
      static_cast<double>(scan.n_fitted()) / static_cast<double>(std::ranges::count(sample, true));
  if (!sampling.alone) share.fewest_apart = physics::fewest_apart(!device::device_is_host);
}

}  // namespace

solvers::RankSetup set_up_rank(const deck::Deck& deck, const Scan& scan,
                               const physics::Parameters& parameters,
                               const comm::Communicator& comm,
                               std::unique_ptr<halo::Transport> transport, const Log& log) {
  if (!transport) transport = make_transport(deck, scan, comm, log);
  share_plans(scan.plan.model, scan.info.pattern, comm);
  return {std::move(transport),
          decomposition::make_halo_plan(scan.tiling, comm.rank()),
          scan.plan.max_reals_per_pixel,
          scan.on_device,
          parameters,
          scan.plan.model_for(scan.tile().positions.size())};
}

decomposition::BatchSchedule batch_schedule(const deck::Solver& solver, const Scan& scan) {
  return {scan.fitted(),
          scan.grid.corner,
          solver.batch_size.value(),
          decomposition::batch_order_from(solver.batch_order),
          solver.seed,
          scan.subpixel_bin};
}

solvers::Sweep set_up_sweep(const deck::Solver& solver, const Scan& scan,
                            solvers::RankSetup& rank) {
  // Probes of positions' own are not shared by shift.
  const std::vector<Vec2> subpixel =
      scan.plan.model.own_probes ? std::vector<Vec2>(scan.subpixel.size()) : scan.subpixel;
  const physics::Sizes sizes = rank.model.detector().sizes();
  solvers::ScanShare share{.positions = scan.tile().positions,
                           .on_border = on_border(scan),
                           .subpixel = subpixel,
                           .near = scan.near,
                           .held_out = scan.held_out,
                           .fewest_divided = physics::fewest_divided(
                               scan.info.pattern, scan.plan.model.n_modes, !device::device_is_host),
                           .lanes = physics::lanes_on_chip(sizes)};
  decomposition::BatchSchedule schedule = batch_schedule(solver, scan);
  add_sample(solver, scan, schedule, share);
  return rank.make_sweep(std::move(schedule), share);
}

solvers::ConstrainedTile constrained_tile(const Scan& scan, const physics::Parameters& parameters) {
  const bool is_far_field = !scan.plan.optics.is_near_field();
  return {.owned = scan.tile().owned,
          .ghosted = scan.tile().ghosted,
          .object = scan.grid.object,
          .window = scan.grid.window,
          .n_slices = scan.plan.model.n_slices,
          .n_probe_modes = scan.plan.model.n_modes,
          .n_probe_images = scan.plan.n_probe_images(),
          .counts_per_pattern = scan.counts_per_pattern,
          .background = parameters.background,
          .trusted_by_far_field =
              is_far_field ? scan.on_device.valid_pixels : device::DeviceView<Real**>(),
          .corner = scan.grid.corner};
}

}  // namespace tessera::run
