#pragma once
/// Which way a descent goes: what `ml` and `lbfgs` differ in.

#include <vector>

#include "physics/probe_modes.hpp"
#include "solvers/line_search.hpp"
#include "solvers/preconditioner.hpp"
#include "solvers/unknown_space.hpp"

namespace tessera::solvers {

/// Where an epoch of a descent stands. Gradients are negative ones: they point downhill.
struct DescentStep {
  const Unknowns& gradient;
  const Preconditioner& preconditioner;
  const UnknownSpace& space;
  device::DeviceView<DescentState> state;
  const Unknowns& unknowns;
  bool constrained;  ///< constraints have moved them since the last epoch
};

/// A rule for the direction. Where the state says that the present point is rejected, the direction
/// and all that the rule remembers stay as they are. Collective; does not wait for the device.
class Direction {
 public:
  virtual ~Direction() = default;
  /// Writes owned pixels of the direction's object, and its probe.
  virtual void update(const device::Device& exec, Sweep& sweep, const DescentStep& step,
                      const Unknowns& direction) = 0;
  /// Constraints are about to move the unknowns.
  virtual void expect_constraints(const device::Device&, const UnknownSpace&, const Unknowns&) {}
  /// Forget what was learned of the cost: it has changed.
  virtual void start_over() = 0;
  /// The probe's modes were mixed: what belongs to them follows.
  virtual void mix(const device::Device& exec, const physics::ModeOrthogonaliser& modes) = 0;
  /// What it has learned, as Solver::memory.
  virtual Fields memory() = 0;
};

/// Nonlinear conjugate gradient: d = M g + beta d, with the Polak-Ribiere
///   beta = <g - g', M g> / <g', M g'>,
/// 1 at most after constraints, 0 where it is negative or where d would not go downhill (Nocedal &
/// Wright 2006, eqs. 5.44 and 5.45; M: the preconditioner, g': the gradient before). 6 doubles are
/// all-reduced.
class ConjugateGradient final : public Direction {
 public:
  explicit ConjugateGradient(const Unknowns& unknowns);
  void update(const device::Device& exec, Sweep& sweep, const DescentStep& step,
              const Unknowns& direction) override;
  void start_over() override { starts_over_ = true; }
  void mix(const device::Device& exec, const physics::ModeOrthogonaliser& modes) override;
  Fields memory() override;

 private:
  Unknowns previous_;        ///< gradient
  Unknowns preconditioned_;  ///< gradient
  device::DeviceView<double* [2]> products_;
  device::DeviceView<double[3]> weights_;  ///< of M g and of d; <g', M g'>, 0 at first
  bool starts_over_ = false;
};

/// Limited-memory BFGS (Nocedal & Wright 2006, algorithm 7.4): the two-loop recursion over the last
/// steps s and changes of the gradient y, begun with gamma M, gamma = <s, y> / <y, M y> of the
/// newest. What constraints did since is part of s, as it is of y. Pairs without <s, y> > 0 are
/// left out. 4 n_history + 4 doubles are all-reduced.
class LimitedMemoryBfgs final : public Direction {
 public:
  LimitedMemoryBfgs(const Unknowns& unknowns, int n_history);
  void update(const device::Device& exec, Sweep& sweep, const DescentStep& step,
              const Unknowns& direction) override;
  void start_over() override { n_updates_ = 0; }
  void expect_constraints(const device::Device& exec, const UnknownSpace& space,
                          const Unknowns& unknowns) override;
  void mix(const device::Device& exec, const physics::ModeOrthogonaliser& modes) override;
  Fields memory() override;

 private:
  void remember(const device::Device& exec, Sweep& sweep, const DescentStep& step,
                const Unknowns& direction);
  const double* product(const device::Device& exec, Sweep& sweep, const UnknownSpace& space,
                        const Unknowns& a, const Unknowns& b) const;

  std::vector<Unknowns> steps_;             ///< s, the pair of update i at i % n_history
  std::vector<Unknowns> gradient_changes_;  ///< y
  Unknowns previous_;                       ///< gradient
  Unknowns work_;
  Unknowns unconstrained_;  ///< where the last epoch left them, if constraints then moved them
  device::DeviceView<double* [2]> products_;
  device::DeviceView<double*> inverse_products_;  ///< 1 / <s, y>; 0: the pair is left out
  device::DeviceView<double*> factors_;
  device::DeviceView<double> scale_;  ///< gamma
  int n_updates_ = 0;
};

}  // namespace tessera::solvers
