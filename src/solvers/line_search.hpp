#pragma once
/// How far to go along a direction of object and probe together.

#include "tessera/physics/sizes.hpp"

#include "physics/costs_along.hpp"
#include "solvers/unknown_space.hpp"

namespace tessera::solvers {

/// Where a descent stands. On the device; the same on all ranks.
struct DescentState {
  double cost = 0;          ///< at the best point so far
  double accepted = 0;      ///< 1: the present point is the best one, 0: the last move went uphill
  double rejected = 0;      ///< 1 - accepted
  double moved = 0;         ///< along the direction since the best point
  double completed = 0;     ///< `moved` when it was accepted, else 0
  double reach = 0;         ///< what the next line search takes for a likely step
  double n_rejections = 0;  ///< one after another
  double started = 0;       ///< 0 before the first cost
};

/// Coefficients of x, x^2, ... x^8.
struct Polynomial {
  static constexpr int degree = physics::CostsAlong::n_costs;
  double coefficient[degree];
};

/// The first minimum for x in [0, 1]: 1 if the polynomial falls all the way, 0 if it does not fall
/// at 0.
KOKKOS_FUNCTION double first_minimum(const Polynomial& polynomial);

/// Line search by a polynomial (Thibault & Guizar-Sicairos 2012, New J. Phys. 14, 063004, sec. 2.3)
/// in one visit to a sample of the positions (Sweep::sample). Along object + t d_o, probe + t d_p
/// the detector waves are A + t B + t^2 C, exactly for a thin sample, hence intensities quartic in
/// t; B and C are differences of the waves at t = 0 and t = +-reach (physics::CostsAlong). Of them
/// the costs at 8 Chebyshev nodes of the interval are summed, and the polynomial of degree 8
/// through these and 0 is minimised: with Noise::intensity it is the cost itself, where no pixel
/// expects far more than was counted. The sample stands
/// for all positions, but the slope at 0 is that of all: near a minimum what single positions ask
/// for all but cancels, and a sample's slope would tell of the sample, where curvatures have one
/// sign and differ little (Byrd et al. 2011, SIAM J. Optim. 21, 977: a sampled Hessian with a full
/// gradient). A visit costs three times the forward model; 11 doubles are all-reduced.
class LineSearch {
 public:
  LineSearch(const Unknowns& unknowns, physics::ForwardModel& model);
  static std::int64_t bytes(const physics::Sizes& sizes) {
    return 2 * (sizes.object_bytes() + sizes.probe_bytes() +
                physics::Illumination::bytes_with_slots(sizes)) +
           physics::CostsAlong::bytes(sizes);
  }

  /// The step along `direction`, on the device: where the present point is accepted, to the first
  /// minimum within 3 reach ahead; else to that on the way back to the best point, half of it at
  /// least. Updates `moved` and `reach` of the state. The direction's ghosts are its owners'
  /// values. Collective.
  /// @param sweep its epoch's batch is the whole scan
  /// @param downhill minus the derivative of the cost of all by conj(unknowns), owned pixels
  const device::DeviceView<double>& find_step(const device::Device& exec, Sweep& sweep,
                                              const UnknownSpace& space, const Unknowns& unknowns,
                                              const Unknowns& downhill, const Unknowns& direction,
                                              const device::DeviceView<DescentState>& state);

 private:
  struct Trial {
    physics::ObjectView object;
    physics::ShiftedProbe probe;
  };
  Trial make_trial(const Unknowns& unknowns) const;
  void make_trials(const device::Device& exec, const Unknowns& unknowns, const Unknowns& direction,
                   const device::DeviceView<DescentState>& state);

  physics::ForwardModel& model_;
  physics::CostsAlong costs_along_;
  Trial ahead_;                                         ///< at t = reach
  Trial behind_;                                        ///< at t = -reach
  device::DeviceView<Real[Polynomial::degree]> times_;  ///< nodes, in units of reach
  device::DeviceView<double[Polynomial::degree][Polynomial::degree]> fit_;  ///< costs to polynomial
  device::DeviceView<double*> sums_;  ///< CostsAlong's; <downhill, direction>
  device::DeviceView<double> step_;
};

}  // namespace tessera::solvers
