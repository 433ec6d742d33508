// Total variation of the object's planes, isotropic.

#include "constraint.hpp"
#include "physics/inner_product.hpp"

namespace tessera::solvers {

using device::complex;
using device::Device;
using physics::squared_magnitude;

namespace {

constexpr int n_rounds = 20;

/// The dual iteration converges below 1/4.
constexpr double dual_step = 0.249;

/// dual = (dual + rate grad image) / max(1, |...|) on owned pixels and on the ghosts above and left
/// of them, whose owners compute the same: so duals need no exchange.
void ascend(const Device& exec, Real rate, const OwnedTile& tile, const ImageView& image,
            const ImageView& dual_y, const ImageView& dual_x) {
  const Box& owned = tile.owned;
  const Box box =
      owned.empty()
          ? Box{}
          : Box{{std::max(0, owned.begin.y - 1), std::max(0, owned.begin.x - 1)}, owned.end};
  const auto h = static_cast<int>(image.extent(0));
  const auto w = static_cast<int>(image.extent(1));
  device::for_each_pixel(
      exec, "tessera::solvers::ascend_dual", 1, box.shape(),
      KOKKOS_LAMBDA(int, const int row, const int column) {
        const int y = box.begin.y + row;
        const int x = box.begin.x + column;
        complex up = dual_y(y, x);
        complex along = dual_x(y, x);
        if (y + 1 < h) up += (image(y + 1, x) - image(y, x)) * rate;
        if (x + 1 < w) along += (image(y, x + 1) - image(y, x)) * rate;
        const Real length = device::math::sqrt(squared_magnitude(up) + squared_magnitude(along));
        const Real scale = length > 1 ? 1 / length : Real(1);
        dual_y(y, x) = up * scale;
        dual_x(y, x) = along * scale;
      });
}

/// smooth = image + weight div dual, on owned pixels.
void descend(const Device& exec, Real weight, const OwnedTile& tile, const ImageView& image,
             const ImageView& dual_y, const ImageView& dual_x, const ImageView& smooth) {
  for_each_owned_pixel(
      exec, "tessera::solvers::add_divergence", 1, tile,
      KOKKOS_LAMBDA(int, const int y, const int x) {
        complex divergence = dual_y(y, x) + dual_x(y, x);
        if (y > 0) divergence -= dual_y(y - 1, x);
        if (x > 0) divergence -= dual_x(y, x - 1);
        smooth(y, x) = image(y, x) + divergence * weight;
      });
}

/// image = argmin_u 1/2 |u - image|^2 + weight sum sqrt(|d_y u|^2 + |d_x u|^2), with forward
/// differences that vanish past the last row and column (Rudin, Osher & Fatemi 1992, Physica D 60,
/// 259), nearly: by `n_rounds` steps of the dual problem (Chambolle 2004, J. Math. Imaging Vision
/// 20, 89), projected as in Chambolle 2005, EMMCVPR, 136. One exchange a round.
void lower(const Device& exec, Sweep& sweep, Real weight, const ConstraintWorkspace& workspace,
           const ImageView& image) {
  const OwnedTile& tile = workspace.frame.tile;
  // One by one: nvcc's front end does not come back from a structured binding of views.
  const ImageView& smooth = workspace.scratch[0];
  const ImageView& dual_y = workspace.scratch[1];
  const ImageView& dual_x = workspace.scratch[2];
  Kokkos::deep_copy(exec, smooth, image);
  device::set_zero(exec, dual_y);
  device::set_zero(exec, dual_x);
  for (int round = 0; round < n_rounds; ++round) {
    ascend(exec, static_cast<Real>(dual_step) / weight, tile, smooth, dual_y, dual_x);
    descend(exec, weight, tile, image, dual_y, dual_x, smooth);
    fill_ghosts(exec, sweep, smooth);
  }
  Kokkos::deep_copy(exec, image, smooth);
}

class TotalVariation final : public Constraint {
 public:
  explicit TotalVariation(const settings::TotalVariation& settings)
      : Constraint(settings.onset), weight_(static_cast<Real>(settings.weight)) {}
  Needs needs() const override { return {.ghost_margin_px = 1, .n_scratch_images = 3}; }
  void apply(const Device& exec, Sweep& sweep, const Unknowns& unknowns,
             const ConstraintWorkspace& workspace, int /*epoch*/) const override {
    for (int plane = 0; plane < static_cast<int>(unknowns.object.extent(0)); ++plane)
      lower(exec, sweep, weight_, workspace, plane_of(unknowns.object, plane));
  }

 private:
  Real weight_;
};

}  // namespace

template <>
std::unique_ptr<Constraint> make_constraint(const settings::TotalVariation& settings) {
  return std::make_unique<TotalVariation>(settings);
}

}  // namespace tessera::solvers
