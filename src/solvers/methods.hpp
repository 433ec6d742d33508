#pragma once
/// How each method is made, what it holds and what it computes. The list of them is
/// settings::OwnSettings.

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

/// Where a method takes a sample of the positions (decision 26) for all.
struct Sampling {
  int fewest = 0;      ///< positions of a batch; 0: it looks at all
  bool alone = false;  ///< sums over the sample may hold no others
};
Sampling sampling(const settings::Solver& settings);

struct Method {
  std::unique_ptr<Solver> (*make)(const settings::Solver&, Unknowns&, physics::ForwardModel&,
                                  const OwnedTile&);
  std::int64_t (*bytes)(const settings::Solver&, const physics::Sizes&);
  double (*remembered)(const settings::Solver&);
  double (*transforms)(int n_slices, double shift);
  Sampling sampling;
};

template <class Class>
Method method(const Sampling& sampling = {}) {
  return {[](const settings::Solver& settings, Unknowns& unknowns, physics::ForwardModel& model,
             const OwnedTile& tile) -> std::unique_ptr<Solver> {
            return std::make_unique<Class>(settings, unknowns, model, tile);
          },
          Class::bytes, Class::remembered, Class::transforms, sampling};
}

/// Specialised in the file of each method, for its own settings.
template <class Own>
Method method_of();

}  // namespace tessera::solvers
