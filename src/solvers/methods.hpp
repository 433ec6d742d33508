#pragma once
/// The list of the methods: how each is made, what it holds and what it computes.

#include <cstdint>
#include <memory>

#include "tessera/physics/sizes.hpp"

#include "settings/solver.hpp"
#include "solvers/owned_tile.hpp"
#include "solvers/solver.hpp"

namespace tessera::solvers {

/// The method of `settings`, with all that it needs allocated.
/// @param unknowns, model to outlive it
std::unique_ptr<Solver> make_solver(const settings::Solver& settings, Unknowns& unknowns,
                                    physics::ForwardModel& model, const OwnedTile& tile);

/// What it then holds, in bytes of device memory.
std::int64_t method_bytes(const settings::Solver& settings, const physics::Sizes& sizes);

/// What a result keeps of what it remembers, waves aside, over the size of object and probe.
double copies_remembered(const settings::Solver& settings);

/// Transforms per position and mode that an epoch cannot do without.
/// @param shift of a probe by part of a pixel, per position: 1, or less where positions share one
double transforms_needed(const settings::Solver& settings, int n_slices, double shift);

}  // namespace tessera::solvers
