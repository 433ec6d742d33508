#pragma once
/// Everything from object and probe to the sums of their updates, for one chunk.

#include "tessera/physics/amplitude.hpp"
#include "tessera/physics/forward_model.hpp"

namespace tessera::physics {

/// chi: what the modulus constraint adds to the exit wave. In steps, on any device, or by the fused
/// kernels of hot_path.hpp where the model says so.
class GradientPass {
 public:
  explicit GradientPass(ForwardModel& model) : model_(model) {}

  /// @param with_probe false: sums.probe and sums.overlap stay as they are
  void add(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
           const GradientSums& sums, bool with_probe);

  /// The same where model.fused(), which leaves chi in `row_spectra`, (chunk.count, n_modes, h, w),
  /// for FusedProducts.
  void add_and_keep(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                    const GradientSums& sums, bool with_probe, device::complex* row_spectra);

  /// The first part of `add`, in steps: waves() = chi of `chunk`, divided by unitary_scale() as
  /// `backward` leaves it. `model.add_gradients` is the rest.
  void find_changes(const device::Device& exec, const ObjectView& object, const Chunk& chunk);

  /// Of the chunks so far, each before its update.
  AmplitudeModel& amplitude() { return amplitude_; }

 private:
  ForwardModel& model_;
  AmplitudeModel amplitude_;
};

}  // namespace tessera::physics
