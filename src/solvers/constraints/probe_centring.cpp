// Keeps the probe in the middle of its window.

#include "constraint.hpp"
#include "device/sums.hpp"
#include "physics/inner_product.hpp"

namespace tessera::solvers {

using device::complex;
using device::Device;
using device::DeviceView;

namespace {

/// Power, and its moments about the window's centre.
struct Moments {
  const complex* probe;
  Shape2 window;

  struct Row {
    const complex* probe;
    Real y;
    int middle;
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      const Real power = physics::squared_magnitude(probe[x]);
      sum[0] += power;
      sum[1] += y * power;
      sum[2] += static_cast<Real>(x - middle) * power;
    }
  };
  KOKKOS_FUNCTION Row row(const int m, const int y) const {
    return {probe + (static_cast<std::int64_t>(m) * window.h + y) * window.w,
            static_cast<Real>(y - window.h / 2), window.w / 2};
  }
};

KOKKOS_FUNCTION int clamped(int value, int end) {
  return value < 0 ? 0 : value < end ? value : end - 1;
}

/// One pixel towards the centre of mass where that is more than half a pixel away.
void find_pixel_move(const Device& exec, const DeviceView<double*>& sums,
                     const DeviceView<int[2]>& move) {
  Kokkos::parallel_for(
      device::kernel_name("tessera::solvers::centring_move"),
      Kokkos::RangePolicy<Device>(exec, 0, 2), KOKKOS_LAMBDA(const int axis) {
        const double offset = sums(0) > 0 ? sums(axis + 1) / sums(0) : 0;
        move(axis) = offset > 0.5 ? 1 : offset < -0.5 ? -1 : 0;
      });
}

/// Owned pixels of `moved` = image(x + move).
void take_moved(const Device& exec, const DeviceView<int[2]>& move, const OwnedTile& tile,
                const ImageView& image, const ImageView& moved) {
  const auto h = static_cast<int>(image.extent(0));
  const auto w = static_cast<int>(image.extent(1));
  for_each_owned_pixel(
      exec, "tessera::solvers::move_object", 1, tile, KOKKOS_LAMBDA(int, const int y, const int x) {
        moved(y, x) = image(clamped(y + move(0), h), clamped(x + move(1), w));
      });
}

void take_moved(const Device& exec, const DeviceView<int[2]>& move, const physics::ProbeView& probe,
                const physics::ProbeView& moved) {
  const Shape2 window = device::image_shape(probe);
  device::for_each_pixel(
      exec, "tessera::solvers::move_probe", static_cast<int>(probe.extent(0)), window,
      KOKKOS_LAMBDA(const int i, const int y, const int x) {
        moved(i, y, x) =
            probe(i, (y + move(0) + window.h) % window.h, (x + move(1) + window.w) % window.w);
      });
}

/// Where the centre of mass of sum_m |P_m|^2 is more than half a pixel from the window's centre,
/// probe and object move by one pixel together, along each axis. Far-field intensities do not
/// change, as far as the probe vanishes at the window's edge, over which it is periodic; scan
/// positions stay. One pixel is what the ghosts hold, so a large offset takes as many epochs. At
/// the object's border the outermost pixel is repeated.
class ProbeCentring final : public Constraint {
 public:
  explicit ProbeCentring(const settings::ProbeCentring& settings) : Constraint(settings.onset) {}
  Needs needs() const override { return {.ghost_margin_px = 1, .n_scratch_images = 1}; }
  std::int64_t bytes(Shape2 window, int n_probe_images) const override {
    return n_probe_images * window.size() * static_cast<std::int64_t>(sizeof(complex));
  }
  void allocate(const ConstrainedTile& tile) override {
    moved_probe_ = physics::ProbeView("tessera::solvers::moved_probe", tile.n_probe_images,
                                      tile.window.h, tile.window.w);
    sum_scratch_ = DeviceView<double*>("tessera::solvers::centring_scratch", 3);
    sums_ = DeviceView<double*>("tessera::solvers::centring_sums", 3);
    move_ = DeviceView<int[2]>("tessera::solvers::centring_move");
  }
  void apply(const Device& exec, Sweep& sweep, const Unknowns& unknowns,
             const ConstraintWorkspace& workspace, int /*epoch*/) const override {
    const OwnedTile& tile = workspace.frame.tile;
    find_move(exec, unknowns.probe, workspace.n_probe_modes);
    take_moved(exec, move_, unknowns.probe, moved_probe_);
    Kokkos::deep_copy(exec, unknowns.probe, moved_probe_);
    for (int plane = 0; plane < static_cast<int>(unknowns.object.extent(0)); ++plane) {
      const ImageView image = plane_of(unknowns.object, plane);
      take_moved(exec, move_, tile, image, workspace.scratch[0]);
      copy_owned(exec, tile, workspace.scratch[0], image);
    }
    fill_ghosts(exec, sweep, unknowns.object);
  }

 private:
  /// @param n_modes the first images of the probe; the others move with them
  void find_move(const Device& exec, const physics::ProbeView& probe, int n_modes) const {
    const Shape2 window = device::image_shape(probe);
    device::set_zero(exec, sums_);
    device::add_pixel_sums<3>(exec, "tessera::solvers::centring_sums", n_modes, window,
                              Moments{probe.data(), window}, sum_scratch_, sums_);
    find_pixel_move(exec, sums_, move_);
  }

  physics::ProbeView moved_probe_;
  DeviceView<double*> sum_scratch_;
  DeviceView<double*> sums_;  ///< power; its moments along y and x
  DeviceView<int[2]> move_;   ///< pixels, (y, x)
};

}  // namespace

template <>
std::unique_ptr<Constraint> make_constraint(const settings::ProbeCentring& settings) {
  return std::make_unique<ProbeCentring>(settings);
}

}  // namespace tessera::solvers
