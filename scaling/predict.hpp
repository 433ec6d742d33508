#pragma once
/// What the cost model says of a case.

#include <nlohmann/json_fwd.hpp>

#include "cost/machine.hpp"
#include "deck/deck.hpp"
#include "run/rank_plan.hpp"
#include "synthetic_case.hpp"

namespace tessera::scaling {

/// Of each number of ranks, on the calling rank alone.
std::vector<run::RankPlan> predict(const deck::Deck& deck, const SyntheticCase& wanted,
                                   const std::vector<int>& n_ranks, const cost::Machine& machine);

/// Milliseconds, term by term.
nlohmann::json prediction_json(const run::RankPlan& plan);

}  // namespace tessera::scaling
