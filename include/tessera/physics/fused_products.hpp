#pragma once
/// What the directions of a batch change in its exit waves, and how that fits what is missing
/// there.

#include "tessera/physics/forward_model.hpp"

namespace tessera::physics {

/// Of one position, over all images: with chi = a u + b v in the least-squares sense.
struct NormalEquations {
  static constexpr int uu = 0;    ///< ||u||^2
  static constexpr int uv = 1;    ///< Re <u, v>
  static constexpr int vv = 2;    ///< ||v||^2
  static constexpr int uchi = 3;  ///< Re <u, chi>
  static constexpr int vchi = 4;  ///< Re <v, chi>
  static constexpr int n = 5;
};

using Products = device::DeviceView<double * [NormalEquations::n]>;

/// Where model.fused(): the products of every position from chi as GradientPass::add_and_keep
/// leaves it, in one kernel that reads the waves once.
class FusedProducts {
 public:
  explicit FusedProducts(ForwardModel& model);

  /// The direction of the probe that the following chunks see.
  void set_probe_direction(const device::Device& exec, const ProbeView& direction);
  /// products = those of u = P dO, v = dP O and chi for the positions of `chunk`, P and O as they
  /// were for chi.
  void find(const device::Device& exec, const ObjectView& object, const ObjectView& direction,
            const Chunk& chunk, const device::complex* row_spectra, const Products& products);

 private:
  ForwardModel& model_;
  Illumination direction_;
};

}  // namespace tessera::physics
