#pragma once
/// What a run would be on any number of ranks, before there are any: from deck and metadata, no
/// pattern read.

#include <cstdint>
#include <span>

#include "tessera/base/error.hpp"

#include "cost/cost_model.hpp"
#include "run/plan_request.hpp"
#include "run/planned_batches.hpp"

namespace tessera::run {

/// On a number of ranks.
struct RankPlan {
  int n_ranks = 0;
  int most_positions = 0;  ///< of a rank
  /// Mean over greatest number of positions of a rank in a batch: 1 where no rank waits for others.
  double balance = 0;
  double ghosts_to_owned = 0;     ///< pixels of all ranks
  std::int64_t device_bytes = 0;  ///< of the fullest rank, patterns on the device; without
  std::int64_t host_bytes = 0;    ///< devices that is host memory, too
  std::int64_t halo_bytes = 0;    ///< that all ranks send in the first epoch's batches
  std::int64_t messages = 0;      ///< in which they do
  int n_counted = 0;              ///< ranks that this was counted of: all, or every so many-th
  cost::EpochCost epoch = {};     ///< where a machine is known
  int least_batch = 0;            ///< cost::CostModel::least_batch
};

/// Pure. Of thousands of ranks every so many-th is counted, and sums over ranks are scaled.
/// @param scan from lay_out_scan, on any ranks; with a machine, on one
/// @param planned of the scan
/// @param machine for seconds; none: nullptr
/// @throws InputError if the machine was measured for another precision or has not the method
RankPlan plan_for_ranks(const deck::Deck& deck, const Scan& scan, const PlannedBatches& planned,
                        int n_ranks, const cost::Machine* machine = nullptr);

/// A line for each, term by term.
void print_seconds(const cost::Machine& machine, std::span<const RankPlan> plans);

/// What `tessera plan` prints: a line for each number of ranks, and the smallest that holds the
/// patterns; seconds. Collective; on one rank as well as on many.
ExitCode print_rank_plans(const deck::Deck& deck, const PlanRequest& wanted,
                          const comm::Communicator& comm);

}  // namespace tessera::run
