#include "not_finite.hpp"

#include <cmath>
#include <optional>

#include "tessera/base/text.hpp"

namespace tessera::run {
namespace {

struct Place {
  int image = 0;  ///< slice or mode
  Pixel pixel;
};

std::optional<Place> first_not_finite(const device::DeviceView<device::complex***>& view) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  for (std::size_t i = 0; i < host.extent(0); ++i)
    for (std::size_t y = 0; y < host.extent(1); ++y)
      for (std::size_t x = 0; x < host.extent(2); ++x)
        if (!std::isfinite(host(i, y, x).real()) || !std::isfinite(host(i, y, x).imag()))
          return Place{static_cast<int>(i), {static_cast<int>(y), static_cast<int>(x)}};
  return std::nullopt;
}

std::string pixel_text(Pixel pixel) {
  return text("pixel (", pixel.y, ", ", pixel.x, ")");
}

/// Of this rank; empty: all is finite.
std::string where_here(const Scan& scan, const solvers::Unknowns& unknowns) {
  if (const auto place = first_not_finite(unknowns.object)) {
    const Pixel tile = scan.tile().ghosted.begin;
    const Pixel at{tile.y + place->pixel.y, tile.x + place->pixel.x};
    for (const int position : scan.tile().positions)
      if (Box::at(scan.corner[static_cast<std::size_t>(position)], scan.grid.window).contains(at))
        return text("the object at ", pixel_text(at), ", under scan position ", position);
    return text("the object at ", pixel_text(at));
  }
  if (const auto place = first_not_finite(unknowns.probe))
    return text("the probe, mode ", place->image, " at ", pixel_text(place->pixel));
  return {};
}

}  // namespace

std::string where_not_finite(const Scan& scan, const solvers::Unknowns& unknowns,
                             const comm::Communicator& comm) {
  for (const std::string& where : comm.all_gather(where_here(scan, unknowns)))
    if (!where.empty()) return where;
  return "an inner product";
}

}  // namespace tessera::run
