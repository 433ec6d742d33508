#pragma once
/// What a rank of a run computes and exchanges with, from the deck and its share of the scan.

#include <memory>

#include "tessera/base/log.hpp"

#include "run/scan.hpp"
#include "solvers/constraint_list.hpp"
#include "solvers/rank_setup.hpp"

namespace tessera::run {

/// Collective.
/// @param parameters shared with who fits them
/// @param transport empty: the one that the deck names
solvers::RankSetup set_up_rank(const deck::Deck& deck, const Scan& scan,
                               const physics::Parameters& parameters,
                               const comm::Communicator& comm,
                               std::unique_ptr<halo::Transport> transport, const Log& log);

/// Which positions one of the plan's solvers updates together.
decomposition::BatchSchedule batch_schedule(const deck::Solver& solver, const Scan& scan);

/// The same with their chunks and exchanges.
solvers::Sweep set_up_sweep(const deck::Solver& solver, const Scan& scan, solvers::RankSetup& rank);

/// @param scan of which corners are used as long as this lives
solvers::ConstrainedTile constrained_tile(const Scan& scan, const physics::Parameters& parameters);

}  // namespace tessera::run
