// The linear phase that data cannot assign to object or probe.

#include "constraint.hpp"
#include "device/sums.hpp"

namespace tessera::solvers {

using device::complex;
using device::Device;
using device::DeviceView;

namespace {

/// Products of owned pixels with the next ones along y and x, ghosts included.
struct NeighbourProducts {
  ImageView first_plane;  ///< gives the tile's shape
  std::int64_t plane_stride;
  DeviceView<Real**> coverage;
  Box owned;

  struct Row {
    const complex* here;
    const complex* below;
    const Real* weight;
    const Real* weight_below;
    Real has_below;
    int n_before_last;  ///< pixels with a next one along x
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      const Real down = has_below * (weight[x] < weight_below[x] ? weight[x] : weight_below[x]);
      sum[0] += down * (here[x].real() * below[x].real() + here[x].imag() * below[x].imag());
      sum[1] += down * (here[x].real() * below[x].imag() - here[x].imag() * below[x].real());
      if (x >= n_before_last) return;
      const Real along = weight[x] < weight[x + 1] ? weight[x] : weight[x + 1];
      const complex next = here[x + 1];
      sum[2] += along * (here[x].real() * next.real() + here[x].imag() * next.imag());
      sum[3] += along * (here[x].real() * next.imag() - here[x].imag() * next.real());
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int row_in_owned) const {
    const int y = owned.begin.y + row_in_owned;
    const auto h = static_cast<int>(first_plane.extent(0));
    const auto w = static_cast<int>(first_plane.extent(1));
    const bool has_below = y + 1 < h;
    const std::int64_t at = static_cast<std::int64_t>(y) * w + owned.begin.x;
    const std::int64_t at_below = has_below ? at + w : at;
    const complex* plane = first_plane.data() + i * plane_stride;
    return {plane + at,
            plane + at_below,
            coverage.data() + at,
            coverage.data() + at_below,
            has_below ? Real(1) : Real(0),
            w - 1 - owned.begin.x};
  }
};

/// images *= exp(i sign ramp (x - centre)), of every stride-th image.
void multiply_by_ramp(const Device& exec, const DeviceView<complex***>& images, int stride,
                      const DeviceView<Real[2]>& ramp_rad, Real sign, Real centre_y,
                      Real centre_x) {
  const Shape2 shape = device::image_shape(images);
  device::for_each_pixel(
      exec, "tessera::solvers::multiply_by_ramp", static_cast<int>(images.extent(0)) / stride,
      shape, KOKKOS_LAMBDA(const int i, const int y, const int x) {
        const Real phase = sign * (ramp_rad(0) * (static_cast<Real>(y) - centre_y) +
                                   ramp_rad(1) * (static_cast<Real>(x) - centre_x));
        images(i * stride, y, x) *= complex(device::math::cos(phase), device::math::sin(phase));
      });
}

void find_ramp(const Device& exec, const DeviceView<double*>& sums,
               const DeviceView<Real[2]>& ramp_rad) {
  Kokkos::parallel_for(
      device::kernel_name("tessera::solvers::ramp"), Kokkos::RangePolicy<Device>(exec, 0, 2),
      KOKKOS_LAMBDA(const int axis) {
        ramp_rad(axis) = static_cast<Real>(device::math::atan2(sums(2 * axis + 1), sums(2 * axis)));
      });
}

/// Takes the mean phase gradient k = arg sum w conj(o(x)) o(x + 1) of the object's first slice
/// (Guizar-Sicairos et al. 2011, Opt. Express 19, 21345, remove it likewise), w the coverage, into
/// the probe: o(x) exp(-i k x), P(x) exp(i k x). Every exit wave keeps its value but for a constant
/// phase; with sub-pixel positions, as far as the probe vanishes at the window's edge. Between the
/// slices of a thick object a ramp is no ambiguity and stays.
class PhaseRamp final : public Constraint {
 public:
  explicit PhaseRamp(const settings::PhaseRamp& settings) : Constraint(settings.onset) {}
  Needs needs() const override { return {.ghost_margin_px = 1, .coverage = true}; }
  void allocate(const ConstrainedTile& /*tile*/) override {
    scratch_ = DeviceView<double*>("tessera::solvers::ramp_scratch", 4);
    sums_ = DeviceView<double*>("tessera::solvers::ramp_sums", 4);
    ramp_rad_ = DeviceView<Real[2]>("tessera::solvers::ramp");
  }
  /// All-reduces 4 doubles.
  void apply(const Device& exec, Sweep& sweep, const Unknowns& unknowns,
             const ConstraintWorkspace& workspace, int /*epoch*/) const override {
    const physics::ObjectView& object = unknowns.object;
    const physics::ProbeView& probe = unknowns.probe;
    const auto& [tile, origin, object_shape] = workspace.frame;
    const int n_slices = workspace.n_slices;
    const auto plane_size = static_cast<std::int64_t>(object.extent(1) * object.extent(2));
    const NeighbourProducts products{plane_of(object, 0), n_slices * plane_size, workspace.coverage,
                                     tile.owned};
    device::set_zero(exec, sums_);
    device::add_pixel_sums<4>(exec, "tessera::solvers::ramp_sums",
                              static_cast<int>(object.extent(0)) / n_slices, tile.owned.shape(),
                              products, scratch_, sums_);
    sweep.all_reduce(exec, sums_);
    find_ramp(exec, sums_, ramp_rad_);
    multiply_by_ramp(exec, object, n_slices, ramp_rad_, -1,
                     static_cast<Real>(object_shape.h / 2 - origin.y),
                     static_cast<Real>(object_shape.w / 2 - origin.x));
    multiply_by_ramp(exec, probe, 1, ramp_rad_, 1, static_cast<Real>(probe.extent(1) / 2),
                     static_cast<Real>(probe.extent(2) / 2));
  }

 private:
  DeviceView<double*> scratch_;
  DeviceView<double*> sums_;      ///< along y: re, im; along x: re, im
  DeviceView<Real[2]> ramp_rad_;  ///< per pixel, (y, x)
};

}  // namespace

template <>
std::unique_ptr<Constraint> make_constraint(const settings::PhaseRamp& settings) {
  return std::make_unique<PhaseRamp>(settings);
}

}  // namespace tessera::solvers
