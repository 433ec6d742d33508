#pragma once
/// Which scan positions are kept from the fit, to judge it by.

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/base/box.hpp"

namespace tessera::decomposition {

/// By position, true: held out. Chosen by a hash of position and seed, so the same on any number of
/// ranks and whatever the patterns hold; round(fraction n_positions) of them, at least one.
/// @param fraction 0: none
/// @throws InputError if none would be left to fit
std::vector<bool> held_out_positions(int n_positions, double fraction, std::uint64_t seed);

/// By position, true: of the second half. Of every two neighbours one, drawn by the seed, so that
/// both halves cover the sample evenly; the same on any number of ranks.
/// @param corner of every window, object pixels
std::vector<bool> second_half(std::span<const Pixel> corner, std::uint64_t seed);

}  // namespace tessera::decomposition
