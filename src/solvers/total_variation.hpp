#pragma once
/// Total variation of a complex image, isotropic.

#include "tile_images.hpp"

namespace tessera::solvers {

/// image = argmin_u 1/2 |u - image|^2 + weight sum sqrt(|d_y u|^2 + |d_x u|^2), with forward
/// differences that vanish past the last row and column (Rudin, Osher & Fatemi 1992, Physica D 60,
/// 259), nearly: by `n_rounds` steps of the dual problem (Chambolle 2004, J. Math. Imaging Vision
/// 20, 89), projected as in Chambolle 2005, EMMCVPR, 136. One exchange a round.
class TotalVariation {
 public:
  static constexpr int n_rounds = 20;

  /// @param scratch three images of the tile
  TotalVariation(const OwnedTile& tile, const std::array<ImageView, 3>& scratch)
      : tile_(tile), smooth_(scratch[0]), dual_y_(scratch[1]), dual_x_(scratch[2]) {}

  /// Collective.
  void lower(const device::Device& exec, Sweep& sweep, Real weight, const ImageView& image) const;

 private:
  OwnedTile tile_;
  ImageView smooth_;
  ImageView dual_y_;
  ImageView dual_x_;
};

}  // namespace tessera::solvers
