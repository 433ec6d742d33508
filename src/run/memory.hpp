#pragma once
/// What a rank of a run will hold, and where the patterns stay for that.

#include "tessera/comm/communicator.hpp"

#include "deck/deck.hpp"
#include "decomposition/memory_plan.hpp"
#include "run/planned_batches.hpp"
#include "run/scan.hpp"

namespace tessera::run {

/// Every array of rank `rank` of `tiling`, which need not be the scan's, in a run of `deck`. Pure.
/// @param scan with everything but patterns
/// @param batches of the scan
decomposition::MemoryNeeds memory_needs(const deck::Deck& deck, const Scan& scan,
                                        const decomposition::Tiling& tiling, int rank,
                                        const PlannedBatches& batches);

/// What the mean rank of so many needs at least: no ghosts, nothing for what batches reach and
/// exchange. Pure, and known before tiles are cut.
/// @param scan with its windows
decomposition::MemoryNeeds least_memory_needs(const deck::Deck& deck, const Scan& scan,
                                              int n_ranks);

/// Of millions of positions tiles and batches take a while; this takes nothing. What all ranks need
/// together is compared with what all have. Collective.
/// @param scan with its windows
/// @throws AgreedError (bad input) if the patterns cannot even stay in the file
void check_least_memory(const deck::Deck& deck, const Scan& scan, const comm::Communicator& comm);

/// The best place of the patterns that fits on every rank, with this rank's arrays. Limits are the
/// deck's, else what there is, shared among the ranks of a host or GPU as they need it. Collective.
/// @param scan with everything but patterns
/// @throws AgreedError (bad input) if nothing fits, naming a rank, the bytes and what would do
decomposition::MemoryPlan agreed_memory_plan(const deck::Deck& deck, const Scan& scan,
                                             const comm::Communicator& comm);

}  // namespace tessera::run
