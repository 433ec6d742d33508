#pragma once
/// Adam on object and probe.

#include "solvers/batch_method.hpp"

namespace tessera::solvers {

/// Stochastic gradient with moments (Kingma & Ba 2015, ICLR, algorithm 1) for complex unknowns u,
/// g the negative gradient of a batch, t the number of batches so far:
///   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) |g|^2
///   u += step (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
/// A step turns a complex number as a whole: v has no phase. Gradients are in the unknowns' own
/// units: of the object sum_jm conj(P_jm) chi_jm / max_x sum_m |P_m|^2, of the probe
/// sum_j conj(O_j) chi_jm / (max_x S sqrt(max_x sum_m |P_m|^2)), S = sum_j |O_j|^2; so is epsilon.
/// Of the object only pixels that a window of the batch reaches are updated, and their moments. Per
/// batch the ranks exchange what Pie exchanges; moments stay with their owners.
class Adam final : public BatchMethod<settings::Adam> {
 public:
  Adam(const settings::Solver& settings, Unknowns& unknowns, physics::ForwardModel& model,
       const OwnedTile& tile);
  /// Device memory that it takes.
  static std::int64_t bytes(const settings::Solver& settings, const physics::Sizes& sizes);
  /// See copies_remembered: complex moments and real ones.
  static double remembered(const settings::Solver&) { return 1.5; }

  void start_epoch(const device::Device& exec, int epoch) override;
  void run_batch(const device::Device& exec, Sweep& sweep, const Batch& batch, int epoch) override;
  void finish_epoch(const device::Device& exec, Sweep& sweep, int epoch) override;
  Fields memory() override;

  /// Owners update their pixels from complete sums, which become zero, ghosts' too.
  void update_object(const device::Device& exec, const BlockList& touched);
  /// Every rank makes the same update from complete sums.
  void update_probe(const device::Device& exec);

 private:
  Maxima maxima_;
  physics::ObjectView object_moment_;          ///< m
  device::DeviceView<Real***> object_square_;  ///< v
  physics::ProbeView probe_moment_;
  device::DeviceView<Real***> probe_square_;
  device::DeviceView<double[2][3]> rates_;  ///< of object, probe: beta1^t, beta2^t, schedule
};

}  // namespace tessera::solvers
