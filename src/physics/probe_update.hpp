#pragma once
/// The probe of a batch method: from a batch's sums to what the next batch sees.

#include "physics/forward_model.hpp"

namespace tessera::physics {

/// probe += step sum / ((1 - alpha) overlap + alpha max_x overlap), where that weight is not zero.
class ProbeUpdate {
 public:
  /// @param probe that the model sees
  /// @param sums of every batch; those of the probe are zero between batches
  ProbeUpdate(ForwardModel& model, const ProbeView& probe, const GradientSums& sums);

  /// Before the first batch of an epoch, in which nothing else changes the probe.
  void start_epoch(const device::Device& exec) const;
  /// Before a batch: its chunks see the probe, and max_power() is the probe's.
  void start_batch(const device::Device& exec) const;
  /// After a batch. The probe's sums, complete on every rank, become zero.
  /// @param step on the device
  void apply(const device::Device& exec, const Real* step, Real alpha) const;

  /// max over pixels of sum_m |probe_m|^2, on the device.
  const device::DeviceView<Real>& max_power() const { return max_power_; }

 private:
  bool is_fused() const;
  void apply_step_by_step(const device::Device& exec, const Real* step, Real alpha) const;
  void apply_at_once(const device::Device& exec, const Real* step, Real alpha) const;

  ForwardModel& model_;
  ProbeView probe_;
  GradientSums sums_;
  device::DeviceView<Real> max_power_;
  device::DeviceView<Real> max_overlap_;  ///< max_x sum_j |object_j|^2
};

}  // namespace tessera::physics
