#pragma once
/// What is simulated: pure data, the same on every rank, and small (nothing of the object's or the
/// patterns' size).

#include <cstdint>
#include <vector>

#include "tessera/base/image_stack.hpp"
#include "tessera/deck/deck.hpp"
#include "tessera/geometry/experiment.hpp"
#include "tessera/geometry/scan.hpp"

#include "phantom.hpp"

namespace tessera::app {

struct SimulatedScan {
  geometry::Optics optics;
  std::vector<Vec2> positions_m;
  geometry::WindowGrid windows;
  Phantom sample;
  WaveStack probe;                        ///< the true modes
  ImageStack<std::uint8_t> valid_pixels;  ///< 1 = trust, zero frequency at [0, 0]
  ImageStack<std::uint8_t> hot_pixels;    ///< 1 = not valid and stuck at its highest value
};

/// @throws InputError naming the key that does not fit
SimulatedScan plan_scan(const deck::Deck& deck);

}  // namespace tessera::app
