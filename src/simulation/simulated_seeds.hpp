#pragma once
/// Each use of simulation.seed has numbers of its own.

#include <cstdint>

#include "tessera/base/random.hpp"

#include "deck/deck.hpp"

namespace tessera::simulation {

enum class Purpose : std::uint64_t {
  jitter = 1,
  sample,
  dead_pixels,
  noise,
  position_error,
  diffuser,
  intensity
};

inline std::uint64_t seed_for(Purpose purpose, const deck::Simulation& simulation) {
  return random_bits(simulation.seed, static_cast<std::uint64_t>(purpose));
}

}  // namespace tessera::simulation
