#include "tessera/app/scan.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "tessera/app/experiment.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::app {
namespace {

io::ScanSource scan_source(const deck::Data& data) {
  return {data.file, data.patterns, data.positions, data.valid_pixels,
          data.zero_frequency == "centre"};
}

std::vector<Vec2> positions_m(const deck::Data& data, const io::ScanInfo& info) {
  if (!info.positions_m.empty()) return info.positions_m;
  const std::vector<int>& shape = data.raster_shape.empty() ? info.raster : data.raster_shape;
  if (shape.size() != 2 || data.raster_step_m.size() != 2)
    throw InputError(
        "the scan has no positions: name a dataset in data.positions, or give data.raster_step_m = "
        "[y, x] (and data.raster_shape = [rows, columns] for patterns that are not 4-D)");
  if (shape[0] * shape[1] != info.n_positions)
    throw InputError(text("data.raster_shape = [", shape[0], ", ", shape[1], "] makes ",
                          shape[0] * shape[1], " positions but \"", data.patterns, "\" holds ",
                          info.n_positions, " patterns"));
  return geometry::raster_scan(shape[0], shape[1], {data.raster_step_m[0], data.raster_step_m[1]},
                               data.raster_rotation_rad);
}

decomposition::Tiling tiling_of(const deck::Decomposition& decomposition,
                                const geometry::WindowGrid& grid, int n_ranks) {
  std::optional<decomposition::TileGrid> tile_grid;
  if (!decomposition.tiles.empty())
    tile_grid = decomposition::TileGrid{decomposition.tiles[0], decomposition.tiles[1]};
  return decomposition::make_tiling(grid.object, grid.window, grid.corner, n_ranks, {}, tile_grid);
}

template <class T>
physics::Patterns patterns_on_device(const std::vector<std::byte>& values, std::size_t n,
                                     Shape2 window) {
  using View = device::DeviceView<T***>;
  return device::to_device<View>("tessera::physics::patterns",
                                 reinterpret_cast<const T*>(values.data()),
                                 typename View::array_layout(n, window.h, window.w));
}

physics::Patterns patterns_on_device(const io::LocalPatterns& patterns, std::size_t n,
                                     Shape2 window) {
  switch (patterns.type) {
    case io::PatternType::u8:
      return patterns_on_device<std::uint8_t>(patterns.values, n, window);
    case io::PatternType::u16:
      return patterns_on_device<std::uint16_t>(patterns.values, n, window);
    case io::PatternType::u32:
      return patterns_on_device<std::uint32_t>(patterns.values, n, window);
    case io::PatternType::f32:
      break;
  }
  return patterns_on_device<float>(patterns.values, n, window);
}

/// As finely as the deck asks for. What is left of whole pixels by rounding is nothing.
void settle_subpixel(const deck::Solver& solver, geometry::WindowGrid& grid) {
  if (solver.subpixel_bins > 0) geometry::round_subpixel(grid, solver.subpixel_bins);
  const bool whole = std::all_of(grid.subpixel.begin(), grid.subpixel.end(),
                                 [](Vec2 s) { return std::hypot(s.y, s.x) <= 1e-6; });
  if (whole || !solver.subpixel) std::fill(grid.subpixel.begin(), grid.subpixel.end(), Vec2{});
}

/// Corners and mask of this rank's positions; patterns come later, the order from the sweep.
physics::ScanTile scan_tile(const Scan& scan) {
  const decomposition::Tile& tile = scan.tile();
  const std::size_t n = tile.positions.size();
  std::vector<int> corner(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto position = static_cast<std::size_t>(tile.positions[i]);
    corner[2 * i] = scan.grid.corner[position].y - tile.ghosted.begin.y;
    corner[2 * i + 1] = scan.grid.corner[position].x - tile.ghosted.begin.x;
  }
  physics::ScanTile made;
  made.window = scan.grid.window;
  using Corners = device::DeviceView<int* [2]>;
  using Mask = device::DeviceView<Real**>;
  const std::vector<Real> valid(scan.info.valid_pixels.begin(), scan.info.valid_pixels.end());
  made.corner = device::to_device<Corners>("tessera::physics::corner", corner.data(),
                                           Corners::array_layout(n, 2));
  made.has_subpixel = std::any_of(scan.grid.subpixel.begin(), scan.grid.subpixel.end(),
                                  [](Vec2 s) { return s != Vec2{}; });
  made.valid_pixels =
      device::to_device<Mask>("tessera::physics::valid_pixels", valid.data(),
                              Mask::array_layout(scan.info.pattern.h, scan.info.pattern.w));
  made.order = device::DeviceView<int*>("tessera::physics::order", n);
  made.slot = device::DeviceView<int*>("tessera::physics::slot", n);
  made.slot_shift = device::DeviceView<Real* [2]>("tessera::physics::slot_shift", n);
  return made;
}

void read_patterns_to_device(const deck::Data& data, const comm::Communicator& comm, const Log& log,
                             Scan& scan) {
  std::vector<int> owner(static_cast<std::size_t>(scan.n_positions()));
  for (std::size_t rank = 0; rank < scan.tiling.tiles.size(); ++rank)
    for (const int position : scan.tiling.tiles[rank].positions)
      owner[static_cast<std::size_t>(position)] = static_cast<int>(rank);
  const std::vector<int>& mine = scan.tile().positions;
  const io::LocalPatterns patterns =
      io::read_patterns(scan_source(data), scan.info, owner, mine, comm);
  scan.on_device.patterns = patterns_on_device(patterns, mine.size(), scan.info.pattern);
  scan.pattern_bytes_read = patterns.bytes_read;
  for (int position = 0; position < scan.n_positions(); ++position)
    if (!std::binary_search(patterns.all_zero.begin(), patterns.all_zero.end(), position))
      scan.fitted.push_back(position);
  if (!patterns.all_zero.empty())
    log.warning(text(patterns.all_zero.size(), " of ", scan.n_positions(),
                     " patterns hold no counts and are left out, the first at position ",
                     patterns.all_zero.front()));
  scan.counts_per_pattern = patterns.total_counts / static_cast<double>(scan.fitted.size());
}

template <class View>
void add_patterns(const View& patterns, ImageStack<double>& sum) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), patterns);
  for (std::size_t i = 0; i < host.extent(0); ++i)
    for (int y = 0; y < sum.h(); ++y)
      for (int x = 0; x < sum.w(); ++x) sum(0, y, x) += static_cast<double>(host(i, y, x));
}

}  // namespace

Scan load_scan(const deck::Deck& deck, const comm::Communicator& comm, const Log& log) {
  const auto start = std::chrono::steady_clock::now();
  Scan scan;
  scan.rank = comm.rank();
  scan.info = io::read_scan_info(scan_source(deck.data), comm);
  comm.together([&] {
    scan.optics = far_field_optics(deck.experiment, scan.info.pattern);
    scan.grid = geometry::lay_windows(positions_m(deck.data, scan.info), scan.info.pattern,
                                      scan.optics.pixel_m);
    settle_subpixel(deck.solver, scan.grid);
    scan.tiling = tiling_of(deck.decomposition, scan.grid, comm.size());
    scan.on_device = scan_tile(scan);
  });
  read_patterns_to_device(deck.data, comm, log, scan);
  scan.read_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return scan;
}

ImageStack<double> mean_pattern(const Scan& scan, const comm::Communicator& comm) {
  ImageStack<double> mean(1, scan.info.pattern);
  std::visit([&](const auto& patterns) { add_patterns(patterns, mean); }, scan.on_device.patterns);
  comm.sum(std::span<double>(mean.data(), mean.size()));
  for (double& value : mean) value /= static_cast<double>(scan.fitted.size());
  return mean;
}

}  // namespace tessera::app
