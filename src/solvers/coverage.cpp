#include "coverage.hpp"

#include <vector>

namespace tessera::solvers {

device::DeviceView<Real**> make_coverage(const ConstrainedTile& tile) {
  const int h = tile.ghosted.height();
  const int w = tile.ghosted.width();
  const Shape2 core{(tile.window.h + 1) / 2, (tile.window.w + 1) / 2};
  const Pixel to_core{(tile.window.h - core.h) / 2, (tile.window.w - core.w) / 2};
  // Each core marks its corners; sums along x, then y, give the count at every pixel.
  const auto at = [w](int y, int x) { return static_cast<std::size_t>(y) * (w + 1) + x; };
  std::vector<Real> count(at(h, w) + 1);
  for (const Pixel& corner : tile.corner) {
    const Box box = intersection(tile.ghosted, Box::at(corner + to_core, core));
    if (box.empty()) continue;
    const auto [begin, end] = moved(box, Pixel{} - tile.ghosted.begin);
    count[at(begin.y, begin.x)] += 1;
    count[at(begin.y, end.x)] -= 1;
    count[at(end.y, begin.x)] -= 1;
    count[at(end.y, end.x)] += 1;
  }
  for (int y = 0; y < h; ++y)
    for (int x = 1; x < w; ++x) count[at(y, x)] += count[at(y, x - 1)];
  for (int y = 1; y < h; ++y)
    for (int x = 0; x < w; ++x) count[at(y, x)] += count[at(y - 1, x)];
  device::DeviceView<Real**> coverage("tessera::solvers::coverage", h, w);
  const auto host = Kokkos::create_mirror_view(coverage);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) host(y, x) = count[at(y, x)];
  Kokkos::deep_copy(coverage, host);
  return coverage;
}

}  // namespace tessera::solvers
