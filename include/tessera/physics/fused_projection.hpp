#pragma once
/// Exit waves that are kept for every position, and a map of them, in fused kernels.

#include "tessera/physics/amplitude.hpp"
#include "tessera/physics/forward_model.hpp"

namespace tessera::physics {

/// One step of a projection method. With P_O what the overlap constraint makes of the waves, P_M
/// what the modulus constraint does, for every position
///   r = of_overlap P_O + of_kept kept,  b = P_O or r,  kept = b,
///   next = b + of_residual (P_M - 1) r,
///   kept = keeps_new next + keeps_base b,
/// and next is what P_O projects in the step that follows.
struct LinearMap {
  Real of_overlap;
  Real of_kept;
  bool from_overlap;  ///< b = P_O
  Real of_residual;
  Real keeps_new;
  Real keeps_base;
};

/// Where model.fused(). Kept waves are row spectra, (position, n_modes, h, w), as only these
/// functions make and read them; linear combinations of them are again.
class FusedProjection {
 public:
  explicit FusedProjection(ForwardModel& model);

  /// model.waves() = P_O of the positions of `chunk`.
  void overlap_waves(const device::Device& exec, const ObjectView& object, const Chunk& chunk);
  /// A step of the positions of `chunk`.
  /// @param bound squared distance to the measured amplitudes that a pattern may keep
  /// @param overlapping = next
  /// @param kept the same array, or another
  /// @param running adds P_O's
  void step(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
            const LinearMap& map, double bound, const WavesView& overlapping, const WavesView& kept,
            AmplitudeModel& running);
  /// ForwardModel::add_gradients of kept waves.
  void add_gradients(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                     const WavesView& overlapping, const GradientSums& sums, bool with_probe);

  /// What it holds, in bytes.
  static std::int64_t bytes(Shape2 window, int chunk_size);

 private:
  ForwardModel& model_;
  device::DeviceView<Real***> factor_;    ///< (position of the chunk, h, w)
  device::DeviceView<double*> distance_;  ///< (position of the chunk)
};

}  // namespace tessera::physics
