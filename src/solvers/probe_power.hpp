#pragma once
/// How many counts the probe and its modes carry.

#include "tessera/physics/inner_product.hpp"
#include "tessera/solvers/solver.hpp"

namespace tessera::solvers {

class ProbePower {
 public:
  /// @param n_modes the first images of the probe, which alone carry power
  explicit ProbePower(int n_modes);

  /// Modes with less than `fraction` of all modes' power are scaled up to it; others stay.
  void raise_weak_modes(const device::Device& exec, const physics::ProbeView& probe,
                        double fraction) const;
  /// The modes' power becomes `counts`; every slice of the object takes its share of the inverse
  /// factor, so that no intensity changes.
  void set(const device::Device& exec, const Unknowns& unknowns, int n_slices, double counts) const;

 private:
  void measure(const device::Device& exec, const physics::ProbeView& probe) const;

  int n_modes_;
  physics::InnerProduct inner_product_;
  device::DeviceView<double* [2]> powers_;  ///< of every mode; its imaginary part is zero
};

}  // namespace tessera::solvers
