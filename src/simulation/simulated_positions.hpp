#pragma once
/// Where the beam of a simulated scan was, and where the file says that it was.

#include <vector>

#include "tessera/geometry/windows.hpp"

#include "deck/deck.hpp"

namespace tessera::simulation {

/// Of simulation.scan, jittered. @throws InputError for a scan that is not known
std::vector<Vec2> true_positions_m(const deck::Simulation& simulation);

/// With the errors of simulation.position_affine about the scan's middle, then of
/// simulation.position_error_px.
std::vector<Vec2> recorded_positions_m(const deck::Simulation& simulation,
                                       std::vector<Vec2> positions_m, double pixel_m);

/// Where the exposures of a fly scan lie about its position: travel ((t + 1/2) / n - 1/2), t < n.
std::vector<Vec2> fly_offsets_px(const deck::Experiment& experiment, double pixel_m);

}  // namespace tessera::simulation
