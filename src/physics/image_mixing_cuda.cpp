#include "physics/image_mixing.hpp"

namespace tessera::physics {
namespace {

constexpr int most_images = 64;

/// @param known number of images, so that a pixel's stay in registers; 0: not known
template <int known>
void mix(const device::Device& exec, const device::DeviceView<device::complex**>& share,
         const ProbeView& images) {
  const auto n_images = static_cast<int>(share.extent(0));
  device::for_each_pixel(
      exec, "tessera::physics::mix_images", 1, device::image_shape(images),
      KOKKOS_LAMBDA(int, const int y, const int x) {
        const int n = known > 0 ? known : n_images;
        device::complex before[known > 0 ? known : most_images];
        for (int m = 0; m < n; ++m) before[m] = images(m, y, x);
        for (int k = 0; k < n; ++k) {
          device::complex sum = 0;
          for (int m = 0; m < n; ++m) sum += share(k, m) * before[m];
          images(k, y, x) = sum;
        }
      });
}

}  // namespace

ImageMixing::ImageMixing(int) {}

std::int64_t ImageMixing::bytes(int) {
  return 0;
}

void ImageMixing::operator()(const device::Device& exec,
                             const device::DeviceView<device::complex**>& share,
                             const ProbeView& images) const {
  switch (share.extent(0)) {
    case 2:
      return mix<2>(exec, share, images);
    case 3:
      return mix<3>(exec, share, images);
    case 4:
      return mix<4>(exec, share, images);
    case 6:
      return mix<6>(exec, share, images);
    case 8:
      return mix<8>(exec, share, images);
    default:
      return mix<0>(exec, share, images);
  }
}

}  // namespace tessera::physics
