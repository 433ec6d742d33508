#pragma once
/// What looks wrong though it can be computed, as a line for the person who reads; empty: nothing.

#include <string>
#include <vector>

#include "io/bad_pixels.hpp"
#include "run/scan.hpp"

namespace tessera::run {

/// A mask that trusts less than half of the recorded pixels is probably the other way round.
std::string doubt_of_mask(const Scan& scan);

/// Pixels that are left out though the mask trusts them. On rank 0.
std::string doubt_of_pixels(const io::BadPixels& bad, Shape2 stored);

/// Scan positions that are fitted no more.
std::string doubt_of_patterns(const std::vector<int>& bad);

/// Solvers in whose batches ranks have no position, though they have some of the scan: one idle
/// share in twenty or more, and the batches that leave none idle. Needs the fitted positions.
std::vector<std::string> doubts_of_batches(const deck::Deck& deck, const Scan& scan);

/// A start worse than an empty object's, E of the mean pattern, by more than a fifth of the counts:
/// optics that are known roughly stay below, a wrong probe, distance or mask does not. Random
/// phases are no guess of the sample and are not judged.
/// @param first_error running E of the first epoch
std::string doubt_of_start(const deck::Deck& deck, const Scan& scan, double first_error);

/// A result that explains the patterns no better than an empty object.
/// @param final_error of the state that is written
std::string doubt_of_result(const deck::Deck& deck, const Scan& scan, double final_error);

/// What the deck leaves out and often is what an error lacks that is more than a fifth above
/// Poisson's noise. 0: that is not known.
std::string doubt_of_model(const deck::Deck& deck, double final_error, double poisson_error);

}  // namespace tessera::run
