#include "physics/point_spread.hpp"

#include "tessera/physics/sizes.hpp"

#include "geometry/point_spread.hpp"

namespace tessera::physics {

using device::Device;
using device::DeviceView;

namespace {

template <bool along_x>
struct SpreadAlong {
  DeviceView<Real***> from;
  DeviceView<Real***> to;
  DeviceView<Real*> share;
  int first;

  KOKKOS_FUNCTION void operator()(const int i, const int y, const int x) const {
    const int n = static_cast<int>(from.extent(along_x ? 2 : 1));
    int at = (along_x ? x : y) + first;
    if (at < 0) at += n;
    Real sum = 0;
    for (int k = 0; k < static_cast<int>(share.extent(0)); ++k) {
      sum += share(k) * (along_x ? from(i, y, at) : from(i, at, x));
      if (++at == n) at = 0;
    }
    to(i, y, x) = sum;
  }
};

}  // namespace

PointSpread::PointSpread(Shape2 window, double sigma_px, int max_images) {
  if (sigma_px == 0) return;
  along_y_ = shares(window.h, sigma_px);
  along_x_ = shares(window.w, sigma_px);
  images_ = DeviceView<Real***>("tessera::physics::spread", max_images, window.h, window.w);
  half_spread_ =
      DeviceView<Real***>("tessera::physics::half_spread", max_images, window.h, window.w);
}

std::int64_t PointSpread::bytes(Shape2 window, double sigma_px, std::int64_t max_images) {
  if (sigma_px == 0) return 0;
  return bytes_of<Real>(2 * max_images * window.size() + window.h + window.w);
}

PointSpread::Shares PointSpread::shares(int n, double sigma_px) {
  const geometry::PointSpread spread = geometry::point_spread(n, sigma_px);
  const std::vector<Real> values(spread.share.begin(), spread.share.end());
  using View = DeviceView<Real*>;
  return {spread.first, device::to_device<View>("tessera::physics::point_spread", values.data(),
                                                View::array_layout(values.size()))};
}

void PointSpread::apply(const Device& exec, int n) const {
  const Shape2 window{static_cast<int>(images_.extent(1)), static_cast<int>(images_.extent(2))};
  device::for_each_pixel(exec, "tessera::physics::spread_along_x", n, window,
                         SpreadAlong<true>{images_, half_spread_, along_x_.share, along_x_.first});
  device::for_each_pixel(exec, "tessera::physics::spread_along_y", n, window,
                         SpreadAlong<false>{half_spread_, images_, along_y_.share, along_y_.first});
}

}  // namespace tessera::physics
