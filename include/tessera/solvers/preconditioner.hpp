#pragma once
/// What makes pixels of object and probe comparable.

#include "tessera/solvers/batch_sums.hpp"

namespace tessera::solvers {

struct PreconditionerOptions {
  double object_step = 1;  ///< of the two, the ratio counts
  double probe_step = 1;
  double object_alpha = 1;
  double probe_alpha = 1;
};

/// An estimate of the inverse Hessian's diagonal, real and positive:
///   object: object_step / (D + object_alpha max_x sum_m |P_m|^2)
///   probe:  probe_step / (S + probe_alpha max_x S)
/// with D = sum_jm |P_jm|^2 and S = sum_j |O_j|^2: the curvature that one pixel's change meets, and
/// a floor where hardly any light falls. It takes the place of the single scale between object and
/// probe of Thibault & Guizar-Sicairos 2012, sec. 2.3.
class Preconditioner {
 public:
  Preconditioner(const PreconditionerOptions& options, const physics::GradientSums& sums);

  /// From the sums and the probe as they are. Does not wait for the device.
  void update(const device::Device& exec, const physics::ProbeView& probe) const;
  /// to = preconditioned from; they may be the same. Ghosts hold nothing of use.
  void apply(const device::Device& exec, const Unknowns& from, const Unknowns& to) const;

 private:
  PreconditionerOptions options_;
  physics::GradientSums sums_;
  device::DeviceView<Real> greatest_power_;
  device::DeviceView<Real> greatest_overlap_;
};

}  // namespace tessera::solvers
