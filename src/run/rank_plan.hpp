#pragma once
/// What a run would be on any number of ranks, before there are any: from deck and metadata, no
/// pattern read.

#include <cstdint>
#include <vector>

#include "tessera/base/error.hpp"

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
};

/// Pure.
/// @param scan from lay_out_scan, on any ranks
/// @param planned of the scan
RankPlan plan_for_ranks(const deck::Deck& deck, const Scan& scan, const PlannedBatches& planned,
                        int n_ranks);

/// What `tessera plan` prints: a line for each number of ranks, and the smallest that holds the
/// patterns. Collective; on one rank as well as on many.
ExitCode print_rank_plans(const deck::Deck& deck, const std::vector<int>& n_ranks,
                          const comm::Communicator& comm);

}  // namespace tessera::run
