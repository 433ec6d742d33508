#pragma once
/// Maximum likelihood over the whole scan: conjugate gradient and L-BFGS.

#include <memory>

#include "solvers/batch_method.hpp"
#include "solvers/direction.hpp"

namespace tessera::solvers {

/// Minimises the cost of all patterns over object and probe together (Thibault & Guizar-Sicairos
/// 2012, New J. Phys. 14, 063004): per epoch one gradient, one direction (direction.hpp), one line
/// search (line_search.hpp), one step. The epoch's batch is the whole scan. Where the cost turns
/// out higher than before, the next epoch goes back along the same direction instead, at least
/// half way; not after constraints, whose rise it may be. Per epoch the ranks exchange 3 Reals per
/// ghost pixel and plane to owners and 4 back, all-reduce 2 n_modes + 1 Reals per probe pixel and
/// the doubles of direction and line search.
class Descent final : public BatchMethod<settings::Descent> {
 public:
  Descent(const settings::Solver& settings, Unknowns& unknowns, physics::ForwardModel& model,
          const OwnedTile& tile);
  /// Device memory that it takes.
  static std::int64_t bytes(const settings::Solver& settings, const physics::Sizes& sizes);
  /// See copies_remembered: direction, last gradient, steps and changes of the gradient.
  static double remembered(const settings::Solver& settings);
  /// See transforms_needed.
  static double transforms(int n_slices, double shift);

  /// The history goes round, and the line search asks for patterns again.
  bool repeats_from(int) const override { return false; }
  void run_batch(const device::Device& exec, Sweep& sweep, const Batch& batch, int epoch) override;
  bool goes_far() const override { return true; }
  void add_slopes(const device::Device& exec, Sweep& sweep, const Batch& batch) override;
  void expect_constraints(const device::Device& exec) override;
  void finish_epoch(const device::Device& exec, Sweep& sweep, int epoch) override;
  Fields memory() override;

  /// On the device.
  const device::DeviceView<DescentState>& state() const { return state_; }

 private:
  void find_gradient(const device::Device& exec, Sweep& sweep, const Batch& batch, int epoch);
  void judge(const device::Device& exec, Sweep& sweep, bool accepts);
  void take_step(const device::Device& exec, Sweep& sweep, const Unknowns& gradient);

  physics::GradientPass slope_pass_;  ///< its figures are no epoch's
  Maxima maxima_;
  Preconditioner preconditioner_;
  UnknownSpace space_;
  LineSearch line_search_;
  std::unique_ptr<Direction> rule_;
  Unknowns direction_;
  device::DeviceView<DescentState> state_;
  device::DeviceView<double*> cost_;  ///< (1)
  int constrained_ = 0;               ///< 1: constraints have acted since the last gradient
};

}  // namespace tessera::solvers
