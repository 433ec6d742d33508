#include "physics/image_mixing.hpp"

namespace tessera::physics {

ImageMixing::ImageMixing(int) {}

std::int64_t ImageMixing::bytes(int) {
  return 0;
}

void ImageMixing::operator()(const device::Device& exec,
                             const device::DeviceView<device::complex**>& share,
                             const ProbeView& images) const {
  constexpr int most_images = 64;
  const auto n = static_cast<int>(share.extent(0));
  device::for_each_pixel(
      exec, "tessera::physics::mix_images", 1, device::image_shape(images),
      KOKKOS_LAMBDA(int, const int y, const int x) {
        device::complex before[most_images];
        for (int m = 0; m < n; ++m) before[m] = images(m, y, x);
        for (int k = 0; k < n; ++k) {
          device::complex sum = 0;
          for (int m = 0; m < n; ++m) sum += share(k, m) * before[m];
          images(k, y, x) = sum;
        }
      });
}

}  // namespace tessera::physics
