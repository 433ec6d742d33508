#include "planned_batches.hpp"

#include <algorithm>

#include "set_up.hpp"

namespace tessera::run {

decomposition::NearWindows WindowReach::near(const decomposition::Tiling& tiling, int rank) const {
  const int reach_px = scan_.plan.reach_px;
  const Shape2& object = scan_.grid.object;
  const Box& ghosted = tiling.tiles[static_cast<std::size_t>(rank)].ghosted;
  decomposition::NearWindows near{
      {tiling.window.h + 2 * reach_px, tiling.window.w + 2 * reach_px}, {}, {}, {}};
  // At the object's edge they reach as much further inwards: what lies beyond no window reaches.
  for (const int position : index_.reaching(grown(ghosted, 2 * reach_px))) {
    const Pixel corner = scan_.corner()[static_cast<std::size_t>(position)];
    const Pixel from{std::clamp(corner.y - reach_px, 0, object.h - near.window.h),
                     std::clamp(corner.x - reach_px, 0, object.w - near.window.w)};
    if (intersection(Box::at(from, near.window), ghosted).empty()) continue;
    near.positions.push_back(position);
    near.corner.push_back(from);
    near.tile_of.push_back(tiling.tile_of(position, corner));
  }
  return near;
}

PlannedBatches::PlannedBatches(const Scan& scan) : windows_(scan) {
  for (const deck::Solver& solver : scan.plan.solvers) {
    const decomposition::BatchSchedule batches = batch_schedule(solver, scan);
    OfSolver of{std::vector<int>(static_cast<std::size_t>(scan.n_positions()), -1),
                batches.n_batches(), batches.fixed_members()};
    for (int id = 0; id < of.n_batches; ++id)
      for (const int position : batches.batch(id))
        of.batch_of[static_cast<std::size_t>(position)] = id;
    of_solvers_.push_back(std::move(of));
  }
}

decomposition::BatchReach PlannedBatches::reach(const decomposition::HaloPlan& plan,
                                                const decomposition::NearWindows& near,
                                                std::size_t solver) const {
  const OfSolver& of = of_solvers_[solver];
  return {plan, near, of.batch_of, of.n_batches, of.fixed_members};
}

}  // namespace tessera::run
