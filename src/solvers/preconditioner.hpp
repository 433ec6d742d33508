#pragma once
/// What makes pixels of object and probe comparable.

#include "settings/steps.hpp"
#include "solvers/batch_method.hpp"

namespace tessera::solvers {

/// An estimate of the inverse Hessian's diagonal, real and positive:
///   object: object_step / (D + object_alpha max_x sum_m |P_m|^2)
///   probe:  probe_step / (S + probe_alpha max_x S)
/// with D = sum_jm |P_jm|^2 and S = sum_j |O_j|^2: the curvature that one pixel's change meets, and
/// a floor where hardly any light falls. It takes the place of the single scale between object and
/// probe of Thibault & Guizar-Sicairos 2012, sec. 2.3.
class Preconditioner {
 public:
  /// @param steps of the two, the ratio counts
  /// @param sums, maxima of the gradient, which who calls keeps up to date
  Preconditioner(const settings::Steps& steps, const settings::Alphas& alphas,
                 const physics::GradientSums& sums, const Maxima& maxima)
      : steps_(steps), alphas_(alphas), sums_(sums), maxima_(maxima) {}

  /// to = preconditioned from; they may be the same. Ghosts hold nothing of use.
  void apply(const device::Device& exec, const Unknowns& from, const Unknowns& to) const;

 private:
  settings::Steps steps_;
  settings::Alphas alphas_;
  physics::GradientSums sums_;
  Maxima maxima_;
};

}  // namespace tessera::solvers
