#pragma once
/// The true beam of a simulated scan: its modes, how they drift, its current.

#include <vector>

#include "tessera/base/image_stack.hpp"
#include "tessera/geometry/pixel_size.hpp"

#include "deck/deck.hpp"

namespace tessera::simulation {

/// The deck's optic with the defocus and the diffuser of [simulation], (n_modes, h, w), power 1.
WaveStack true_probe(const deck::Deck& deck, Shape2 window, const geometry::Optics& optics);

/// Two modes, orthogonal to the first of `probe`, with `drift` times its amplitude; none if 0.
WaveStack drift_modes(const WaveStack& probe, double drift);

/// Weights of the two drift modes at every position: 2 t - 1 and sin(2 pi t), t from 0 to 1 along
/// the scan.
std::vector<Vec2> drift_weights(std::size_t n_positions);

/// Relative beam current at every position, uniform about its mean of 1.
std::vector<double> beam_intensity(const deck::Simulation& simulation, std::size_t n_positions);

}  // namespace tessera::simulation
