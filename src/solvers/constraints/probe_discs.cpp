// Discs outside which the probe is zero, on the sample and on the detector.

#include "constraint.hpp"

namespace tessera::solvers {

using device::complex;
using device::Device;

namespace {

/// images = scale * images in a disc about `centre`, zero outside; the window is periodic.
void cut(const Device& exec, double radius_px, Pixel centre, Real scale,
         const physics::ProbeView& images) {
  const Shape2 shape = device::image_shape(images);
  const Pixel to_middle{shape.h / 2 - centre.y, shape.w / 2 - centre.x};
  const auto max_squared_px = static_cast<Real>(radius_px * radius_px);
  device::for_each_pixel(
      exec, "tessera::solvers::keep_disc", static_cast<int>(images.extent(0)), shape,
      KOKKOS_LAMBDA(const int i, const int y, const int x) {
        const int dy = (y + to_middle.y) % shape.h - shape.h / 2;
        const int dx = (x + to_middle.x) % shape.w - shape.w / 2;
        const bool inside = static_cast<Real>(dy * dy + dx * dx) <= max_squared_px;
        images(i, y, x) = inside ? images(i, y, x) * scale : complex(0);
      });
}

/// On the sample, about the window's centre [h/2, w/2].
class Support final : public Constraint {
 public:
  explicit Support(const settings::ProbeSupport& settings)
      : Constraint(settings.onset), radius_px_(settings.radius_px) {}
  void apply(const Device& exec, Sweep& /*sweep*/, const Unknowns& unknowns,
             const ConstraintWorkspace& /*workspace*/, int /*epoch*/) const override {
    const Shape2 window = device::image_shape(unknowns.probe);
    cut(exec, radius_px_, {window.h / 2, window.w / 2}, 1, unknowns.probe);
  }

 private:
  double radius_px_;
};

/// In the far field, about zero frequency, detector pixels.
class Aperture final : public Constraint {
 public:
  explicit Aperture(const settings::ProbeAperture& settings)
      : Constraint(settings.onset), radius_px_(settings.radius_px) {}
  std::int64_t bytes(Shape2 window, int n_probe_images) const override {
    return fft::work_bytes(window, n_probe_images);
  }
  void apply(const Device& exec, Sweep& /*sweep*/, const Unknowns& unknowns,
             const ConstraintWorkspace& workspace, int /*epoch*/) const override {
    const auto& probe = unknowns.probe;
    const auto n = static_cast<int>(probe.extent(0));
    const fft::Plan& plan = workspace.plan;
    plan.forward(exec, probe.data(), n);
    cut(exec, radius_px_, {0, 0}, plan.unitary_scale() * plan.unitary_scale(), probe);
    plan.inverse(exec, probe.data(), n);
  }

 private:
  double radius_px_;
};

}  // namespace

template <>
std::unique_ptr<Constraint> make_constraint(const settings::ProbeAperture& settings) {
  return std::make_unique<Aperture>(settings);
}

template <>
std::unique_ptr<Constraint> make_constraint(const settings::ProbeSupport& settings) {
  return std::make_unique<Support>(settings);
}

}  // namespace tessera::solvers
