#pragma once
/// The point spread of the detector: periodic, its own adjoint.

#include "tessera/base/box.hpp"
#include "tessera/device/device.hpp"

namespace tessera::physics {

class PointSpread {
 public:
  /// None.
  PointSpread() = default;
  /// @param sigma_px standard deviation of a Gaussian, above 0; `geometry::point_spread`
  /// @param max_images at a time
  PointSpread(Shape2 window, double sigma_px, int max_images);
  /// Device memory, with that of the images themselves.
  static std::int64_t bytes_with_images(Shape2 window, std::int64_t max_images);

  bool any() const { return scratch_.size() > 0; }
  /// The first `n` of `images`, (n, h, w).
  void apply(const device::Device& exec, const device::DeviceView<Real***>& images, int n) const;

 private:
  /// Along one axis.
  struct Shares {
    int first = 0;
    device::DeviceView<Real*> share;
  };
  static Shares shares(int n, double sigma_px);

  Shares along_y_;
  Shares along_x_;
  device::DeviceView<Real***> scratch_;
};

}  // namespace tessera::physics
