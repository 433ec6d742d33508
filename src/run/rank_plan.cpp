#include "run/rank_plan.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/core.h>

#include "tessera/base/text.hpp"
#include "tessera/decomposition/halo_plan.hpp"

#include "cost/machine_file.hpp"
#include "deck/check.hpp"
#include "device/free_memory.hpp"
#include "run/memory.hpp"
#include "run/planned_batches.hpp"
#include "run/rank_work.hpp"
#include "run/start_device.hpp"
#include "run/tiles_picture.hpp"
#include "set_up.hpp"

namespace tessera::run {
namespace {

using decomposition::BatchSchedule;
using decomposition::PatternsIn;
using decomposition::Tiling;

/// Cut as the run would: rows and columns of the deck are those of one number of ranks.
Tiling tiling_for(const deck::Deck& deck, const Scan& scan, int n_ranks) {
  const std::vector<int>& given = deck.decomposition.tiles;
  std::optional<decomposition::TileGrid> grid;
  if (!given.empty() && given[0] * given[1] == n_ranks) grid = {given[0], given[1]};
  return decomposition::make_tiling(scan.grid.object, scan.grid.window, scan.corner(), n_ranks,
                                    grid, scan.plan.tile_margin_px);
}

/// Every rank waits for the one that has most of a batch.
double balance_of(const BatchSchedule& batches, const Scan& scan, const Tiling& tiling) {
  const auto n_ranks = static_cast<int>(tiling.tiles.size());
  double together = 0;
  double waited_for = 0;
  for (int id = 0; id < batches.n_batches(); ++id) {
    std::vector<int> share(static_cast<std::size_t>(n_ranks));
    for (const int position : batches.batch(id))
      ++share[static_cast<std::size_t>(
          tiling.tile_of(position, scan.corner()[static_cast<std::size_t>(position)]))];
    together += static_cast<double>(batches.batch(id).size());
    waited_for += static_cast<double>(n_ranks) * *std::ranges::max_element(share);
  }
  return together / waited_for;
}

/// What one rank sends in an epoch of the first solver.
void add_messages(const Scan& scan, const decomposition::BatchReach& reach, int n_batches,
                  RankPlan& plan) {
  const std::int64_t n_planes = scan.plan.model.n_object_modes * scan.plan.model.n_slices;
  for (int id = 0; id < n_batches; ++id) {
    for (const decomposition::PeerMessages& peer : reach.messages(id)) {
      const std::int64_t sums = peer.to_owners.send.n_pixels;
      const std::int64_t values = peer.to_ghosts.send.n_pixels;
      plan.halo_bytes += (sums * scan.plan.max_reals_per_pixel + values * 2 * n_planes) *
                         static_cast<std::int64_t>(sizeof(Real));
      plan.messages += (sums > 0 ? 1 : 0) + (values > 0 ? 1 : 0);
    }
  }
}

bool fits_resident(const deck::Deck& deck, const Scan& scan, const PlannedBatches& planned,
                   int n_ranks, const decomposition::MemoryLimits& limits) {
  const Tiling tiling = tiling_for(deck, scan, n_ranks);
  for (int rank = 0; rank < n_ranks; ++rank)
    if (!fits(plan_memory(memory_needs(deck, scan, tiling, rank, planned), PatternsIn::device),
              limits))
      return false;
  return true;
}

/// Of one rank: the deck's, else what this machine has.
decomposition::MemoryLimits limits_of_rank(const deck::Computation& run) {
  const auto or_free = [](double given, std::int64_t free_bytes) {
    return given > 0 ? static_cast<std::int64_t>(given) : free_bytes;
  };
  const std::int64_t host = or_free(run.host_memory_bytes, device::available_host_bytes());
  return {
      or_free(run.device_memory_bytes, device::device_is_host ? host : device::free_device_bytes()),
      host, device::device_is_host};
}

std::string smallest(const deck::Deck& deck, const Scan& scan, const PlannedBatches& planned) {
  const decomposition::MemoryLimits limits = limits_of_rank(deck.run);
  const auto holds = [&](int n_ranks) {
    return fits_resident(deck, scan, planned, n_ranks, limits);
  };
  const std::optional<int> enough =
      holds(1) ? 1 : decomposition::ranks_that_fit(1, scan.n_positions(), holds);
  const std::string each = text(decomposition::bytes_text(limits.device_bytes), " of device and ",
                                decomposition::bytes_text(limits.host_bytes),
                                " of host memory each (run.device_memory_bytes, "
                                "run.host_memory_bytes, else this machine's)");
  if (!enough) return text("no number of ranks holds the patterns with ", each);
  return text("the patterns stay in memory on ", *enough, *enough == 1 ? " rank" : " ranks",
              " or more with ", each);
}

/// Every so many-th rank, such that these are not too many.
int stride_of(int n_ranks) {
  constexpr int max_counted = 512;
  return (n_ranks - 1) / max_counted + 1;
}

void print_header(const Scan& scan) {
  fmt::print("{} positions of {} x {} pixels, object {} x {} pixels, batches of {}\n",
             scan.n_positions(), scan.info.pattern.h, scan.info.pattern.w, scan.grid.object.h,
             scan.grid.object.w, scan.batch_sizes().front());
}

void print_memory(const std::vector<RankPlan>& plans) {
  fmt::print("{:>6} {:>10} {:>8} {:>7} {:>11} {:>11} {:>14} {:>14}\n", "ranks", "positions",
             "balance", "ghosts", "device", "host", "halo an epoch", "messages");
  for (const RankPlan& plan : plans)
    fmt::print("{:>6} {:>10} {:>8.2f} {:>6.0f}% {:>11} {:>11} {:>14} {:>14}\n", plan.n_ranks,
               plan.most_positions, plan.balance, 100 * plan.ghosts_to_owned,
               decomposition::bytes_text(plan.device_bytes),
               decomposition::bytes_text(plan.host_bytes),
               decomposition::bytes_text(plan.halo_bytes), plan.messages);
  if (plans.back().n_counted < plans.back().n_ranks)
    fmt::print("of more than 512 ranks every so many-th is counted: of {} here {}\n",
               plans.back().n_ranks, plans.back().n_counted);
}

}  // namespace

RankPlan plan_for_ranks(const deck::Deck& deck, const Scan& scan, const PlannedBatches& planned,
                        int n_ranks, const cost::Machine* machine) {
  const Tiling tiling = tiling_for(deck, scan, n_ranks);
  const BatchSchedule batches = batch_schedule(scan.plan.solvers.front(), scan);
  RankPlan plan{.n_ranks = n_ranks, .balance = balance_of(batches, scan, tiling)};
  std::optional<cost::CostModel> model;
  if (machine) model.emplace(*machine, run_shape(scan, tiling, *machine));
  std::int64_t ghosts = 0;
  for (int rank = 0; rank < n_ranks; rank += stride_of(n_ranks), ++plan.n_counted) {
    const int n = tiling.tiles[static_cast<std::size_t>(rank)].n_positions;
    plan.most_positions = std::max(plan.most_positions, n);
    const auto memory =
        plan_memory(memory_needs(deck, scan, tiling, rank, planned), PatternsIn::device);
    plan.device_bytes = std::max(plan.device_bytes, total_bytes(memory.device));
    plan.host_bytes = std::max(plan.host_bytes, total_bytes(memory.host));
    const decomposition::HaloPlan halo = make_halo_plan(tiling, rank);
    ghosts += halo.ghost_pixels();
    const decomposition::NearWindows near = planned.windows().near(tiling, rank);
    const decomposition::BatchReach reach = planned.reach(halo, near, 0);
    add_messages(scan, reach, batches.n_batches(), plan);
    if (model)
      model->add_rank(work_of_rank(scan, halo, near, reach, batches.n_batches(), machine->on_gpu));
  }
  const double scale = static_cast<double>(n_ranks) / plan.n_counted;
  plan.halo_bytes = std::llround(scale * static_cast<double>(plan.halo_bytes));
  plan.messages = std::llround(scale * static_cast<double>(plan.messages));
  plan.ghosts_to_owned =
      scale * static_cast<double>(ghosts) / static_cast<double>(scan.grid.object.size());
  if (model) {
    plan.epoch = model->epoch();
    plan.least_batch = model->least_batch();
  }
  return plan;
}

void print_seconds(const cost::Machine& machine, std::span<const RankPlan> plans) {
  fmt::print(
      "\nseconds an epoch, predicted from what was measured on {} with up to {} rank(s), patterns "
      "in memory:\n"
      "{:>6} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  limit, least batch\n",
      machine.name, machine.links.back().n_ranks, "ranks", "epoch", "interior", "border",
      "exchange", "probe", "updates", "rest", "waits");
  for (const RankPlan& plan : plans) {
    const cost::EpochCost& epoch = plan.epoch;
    fmt::print(
        "{:>6} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f}  {}, {}\n",
        plan.n_ranks, epoch.total_s(), epoch.interior_s, epoch.border_s, epoch.exchange_s,
        epoch.probe_s, epoch.updates_s, epoch.rest_s, epoch.waits_s, epoch.limit(),
        plan.least_batch);
  }
  fmt::print(
      "waits: what the mean rank waits for the slowest, in interior, border and updates; least "
      "batch: with fewer positions ranks wait and start more than they compute\n");
  const auto takes_turns = [&](const RankPlan& plan) {
    return cost::turns(machine, plan.n_ranks) > 1;
  };
  if (std::ranges::any_of(plans, takes_turns))
    fmt::print(
        "more ranks of a host than its {} cores are a rough estimate: when a rank gets its turn "
        "is the system's affair, and the others wait for it in every batch\n",
        machine.cores);
}

ExitCode print_rank_plans(const deck::Deck& deck, const PlanRequest& wanted,
                          const comm::Communicator& comm) {
  comm.together([&] { deck::check_reconstruction(deck); });
  const auto runtime = start_device(comm, true);
  deck::Deck any_tiles = deck;
  any_tiles.decomposition.tiles.clear();
  io::ScanInfo info = io::read_scan_info(scan_source(deck), comm);
  const comm::Communicator alone(MPI_COMM_SELF);
  comm.together([&] {
    if (!comm.is_root()) return;
    std::optional<cost::Machine> machine;
    if (!wanted.machine.empty()) machine = cost::read_machine(wanted.machine);
    const double all_bytes = static_cast<double>(info.n_positions) *
                             static_cast<double>(info.pattern.size()) *
                             static_cast<double>(io::size_of(info.type));
    const Scan scan = lay_out_scan(any_tiles, std::move(info), alone);
    print_header(scan);
    const PlannedBatches planned(scan);
    std::vector<RankPlan> plans;
    for (const int n : wanted.n_ranks) {
      plans.push_back(plan_for_ranks(deck, scan, planned, n, machine ? &*machine : nullptr));
      if (!wanted.pictures.empty())
        draw_tiles(tiling_for(deck, scan, n), scan.corner(), wanted.pictures);
    }
    print_memory(plans);
    fmt::print("{}\n", smallest(deck, scan, planned));
    if (!machine) return;
    print_seconds(*machine, plans);
    if (machine->file_bytes_per_s > 0)
      fmt::print("to read the patterns: {:.2g} s by one rank\n",
                 all_bytes / machine->file_bytes_per_s);
  });
  return ExitCode::done;
}

}  // namespace tessera::run
