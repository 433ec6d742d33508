#include <Eigen/Core>
#include <algorithm>
#include <complex>

#include "physics/image_mixing.hpp"

namespace tessera::physics {
namespace {

/// Pixels that are mixed at a time: before and after, they stay in the cache.
constexpr Eigen::Index part_px = 2048;

using Matrix = Eigen::Matrix<std::complex<Real>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Matrices = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;

/// @param stride values from row to row
Matrices as_matrix(device::complex* values, Eigen::Index n, Eigen::Index width,
                   Eigen::Index stride) {
  return {reinterpret_cast<std::complex<Real>*>(values), n, width, Eigen::OuterStride<>(stride)};
}

}  // namespace

ImageMixing::ImageMixing(int n_images)
    : before_("tessera::physics::images_before", n_images, part_px) {}

std::int64_t ImageMixing::bytes(int n_images) {
  return bytes_of<device::complex>(n_images * part_px);
}

void ImageMixing::operator()(const device::Device&,
                             const device::DeviceView<device::complex**>& share,
                             const ProbeView& images) const {
  const auto n = static_cast<Eigen::Index>(share.extent(0));
  const auto area = static_cast<Eigen::Index>(images.extent(1) * images.extent(2));
  const Matrices shares = as_matrix(share.data(), n, n, n);
  for (Eigen::Index first = 0; first < area; first += part_px) {
    const Eigen::Index width = std::min(part_px, area - first);
    Matrices part = as_matrix(images.data() + first, n, width, area);
    Matrices before = as_matrix(before_.data(), n, width, part_px);
    before = part;
    part.noalias() = shares * before;
  }
}

}  // namespace tessera::physics
