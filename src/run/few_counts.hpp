#pragma once
/// What a run leaves to the patterns' counts: few of them are no amplitudes
/// (docs/methods/maximum_likelihood.md).

#include <span>
#include <string>

#include "deck/deck.hpp"
#include "run/history.hpp"
#include "run/scan.hpp"

namespace tessera::run {

/// A pixel; below, the bias of their roots may be the greater part of an object's error.
inline constexpr double few_counts = 10;
/// From here on what the model lacks may be more than the bias in dark pixels.
inline constexpr double many_counts = 100;

/// Of a trusted pixel of a pattern on average; infinite where patterns have fractions, which may be
/// scaled.
double counts_of(const Scan& scan);

/// Settles solver.noise = "auto" in the plan where counts and dark pixels alone decide; elsewhere
/// errors do, epoch by epoch.
void settle_by_counts(const deck::Deck& deck, Scan& scan);

/// Of a solver of the plan, after these epochs: open noise is Poisson's, or of intensities above a
/// faint background, once an epoch's error is hardly more than what Poisson's leaves
/// (docs/methods/maximum_likelihood.md, "More counts"), and a projection's amplitudes are
/// stabilised then.
physics::Noise noise_after(std::span<const EpochFigures> history, const deck::Solver& solver,
                           const Scan& scan);
/// The same of the last of these epochs, if there is one.
physics::Noise noise_of_last(std::span<const EpochFigures> history, const deck::Solver& solver,
                             const Scan& scan);

/// Of a solver: ModelOptions::dark_amplitude.
double dark_amplitude(const deck::Deck& deck, const deck::Solver& solver, const Scan& scan);

/// What was settled otherwise than for many counts with a background, and which method would want
/// other noise; empty: nothing.
std::string words_on_counts(const deck::Deck& deck, const Scan& scan);

}  // namespace tessera::run
