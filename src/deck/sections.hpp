#pragma once
/// The key table of [solver].

#include <vector>

#include "tessera/deck/keys.hpp"

namespace tessera::deck {

std::vector<Key> solver_keys(Solver& solver);

}  // namespace tessera::deck
