#pragma once
/// Images from images: a product of two matrices, of which one is small.

#include "tessera/physics/sizes.hpp"

#include "physics/gradient_sums.hpp"

namespace tessera::physics {

/// On hosts by Eigen, on GPUs by a kernel: docs/decisions/0024-dense-products.md says why.
class ImageMixing {
 public:
  explicit ImageMixing(int n_images);
  static std::int64_t bytes(int n_images);
  /// images(k) = sum over m of share(k, m) images(m), in place, of as many images as `share` has
  /// rows. Does not wait for the device.
  void operator()(const device::Device& exec, const device::DeviceView<device::complex**>& share,
                  const ProbeView& images) const;

 private:
  device::DeviceView<device::complex**> before_;  ///< a part of every image; of hosts alone
};

}  // namespace tessera::physics
