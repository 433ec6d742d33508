#pragma once
/// Which solver makes the next epoch, and when a run ends before its last. Pure: the same history
/// and time give the same answer on every rank.

#include <span>
#include <string>

#include "deck/deck.hpp"
#include "run/history.hpp"

namespace tessera::run {

enum class StopRule { none, plateau, time, error, divergence, runaway, validation };

/// Lines of `history` that solver `stage` made.
int epochs_in_stage(std::span<const EpochFigures> history, int stage);

/// The solver that makes the next epoch: the last line's, or the one after it if its epochs are
/// done or it has come to a plateau; deck.solvers.size() when all have ended.
int stage_of_next_epoch(const deck::Deck& deck, std::span<const EpochFigures> history);

/// Epochs that are left if no rule ends a solver before.
int epochs_left(const deck::Deck& deck, std::span<const EpochFigures> history);

/// The rule that ends the run after the last epoch of `history`, whatever solvers are left.
/// @param seconds since the run began
StopRule ending_rule(const deck::Deck& deck, std::span<const EpochFigures> history, double seconds);

/// Whether the error of the last epoch of `history`, which is not empty, is at most a fifth above
/// the lowest of its solver.
bool is_near_lowest(std::span<const EpochFigures> history);

/// How a run whose solvers have all ended came to its end: a plateau of the last one, or none.
StopRule last_rule(const deck::Deck& deck, std::span<const EpochFigures> history);

/// Status of the result: "finished", or "stopped: " and the rule with its numbers.
std::string status_text(StopRule rule, const deck::Stop& stop);

}  // namespace tessera::run
