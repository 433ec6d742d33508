#pragma once
/// The point spread of the detector, and images that it is applied to: periodic, its own adjoint.

#include "tessera/base/box.hpp"
#include "tessera/device/device.hpp"

namespace tessera::physics {

class PointSpread {
 public:
  /// @param sigma_px standard deviation of a Gaussian, `geometry::point_spread`; 0: none, and
  /// nothing is allocated
  PointSpread(Shape2 window, double sigma_px, int max_images);
  static std::int64_t bytes(Shape2 window, double sigma_px, std::int64_t max_images);

  bool any() const { return images_.size() > 0; }
  /// (max_images, h, w); empty: none
  const device::DeviceView<Real***>& images() const { return images_; }
  /// To the first `n` images.
  void apply(const device::Device& exec, int n) const;

 private:
  /// Along one axis.
  struct Shares {
    int first = 0;
    device::DeviceView<Real*> share;
  };
  static Shares shares(int n, double sigma_px);

  Shares along_y_;
  Shares along_x_;
  device::DeviceView<Real***> images_;
  device::DeviceView<Real***> half_spread_;  ///< along x
};

}  // namespace tessera::physics
