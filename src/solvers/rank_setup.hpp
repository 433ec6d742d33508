#pragma once
/// What a rank computes and exchanges with, set up in the one order that holds together.

#include <memory>

#include "tessera/solvers/sweep.hpp"

#include "physics/forward_model.hpp"

namespace tessera::solvers {

struct RankSetup {
  /// Collective.
  /// @param max_reals_per_pixel of one exchange, at most (halo::HaloExchange)
  RankSetup(std::unique_ptr<halo::Transport> made, const decomposition::HaloPlan& plan,
            int max_reals_per_pixel, const physics::ScanTile& scan,
            const physics::Parameters& parameters, const physics::ModelOptions& options)
      : transport(std::move(made)),
        halo(plan, max_reals_per_pixel, *transport),
        model(scan, parameters, options) {}

  Sweep make_sweep(decomposition::BatchSchedule schedule, const ScanShare& share) {
    return {std::move(schedule), share, model.chunk_size(), model.max_slots(),
            model.scan(),        halo,  *transport};
  }

  std::unique_ptr<halo::Transport> transport;
  halo::HaloExchange halo;
  physics::ForwardModel model;
};

}  // namespace tessera::solvers
