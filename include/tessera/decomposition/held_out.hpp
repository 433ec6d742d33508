#pragma once
/// Which scan positions are kept from the fit, to judge it by.

#include <cstdint>
#include <vector>

namespace tessera::decomposition {

/// By position, true: held out. Chosen by a hash of position and seed, so the same on any number of
/// ranks and whatever the patterns hold; round(fraction n_positions) of them, at least one.
/// @param fraction 0: none
/// @throws InputError if none would be left to fit
std::vector<bool> held_out_positions(int n_positions, double fraction, std::uint64_t seed);

}  // namespace tessera::decomposition
