#pragma once
/// How well object and probe explain the patterns.

#include <functional>
#include <optional>
#include <span>

#include "tessera/comm/communicator.hpp"

#include "physics/figures.hpp"
#include "physics/inner_product.hpp"
#include "solvers/solver.hpp"

namespace tessera::run {

/// All calls are collective.
class Figures {
 public:
  /// @param unknowns whose views last as long as this
  Figures(physics::ForwardModel& model, const solvers::Unknowns& unknowns,
          const comm::Communicator& comm);

  /// Those of the epoch that `solver` has ended; none if object or probe is not finite. The one
  /// place in an epoch where the host waits for the device, and the one reduction over hosts.
  std::optional<physics::FigureSums> of_epoch(const device::Device& exec, solvers::Solver& solver);
  /// Those of the present state, over `batches`.
  /// @param seen called for each chunk when the model has compared it; may be empty
  physics::FigureSums measure(const device::Device& exec, std::span<const solvers::Batch> batches,
                              const std::function<void(const physics::Chunk&)>& seen = {});

 private:
  physics::ForwardModel& model_;
  solvers::Unknowns unknowns_;
  const comm::Communicator& comm_;
  physics::RunningFigures present_;
  physics::InnerProduct inner_product_;
  device::DeviceView<double*>
      sums_;  ///< physics::FigureSums; <object, object>, re and im; of the probe
  device::HostView<double*> host_sums_;
};

}  // namespace tessera::run
