#include "run/scan_layout.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "decomposition/held_out.hpp"
#include "planned_batches.hpp"
#include "result_file.hpp"

namespace tessera::run {
namespace {

/// Takes those that `info` has: nobody needs them once the windows lie.
std::vector<Vec2> positions_m(const deck::Data& data, io::ScanInfo& info) {
  if (!info.positions_m.empty()) return std::exchange(info.positions_m, {});
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

decomposition::Tiling tiling_of(const deck::Deck& deck, const Scan& scan, int n_ranks) {
  const std::vector<int>& tiles = deck.decomposition.tiles;
  std::optional<decomposition::TileGrid> tile_grid;
  if (!tiles.empty()) tile_grid = decomposition::TileGrid{tiles[0], tiles[1]};
  return decomposition::make_tiling(scan.grid.object, scan.grid.window, scan.corner(), n_ranks,
                                    tile_grid, scan.plan.tile_margin_px, scan.rank);
}

/// As finely as the deck asks for; positions with probes of their own share none, so that rounding
/// them would gain nothing. What is left of whole pixels by rounding is nothing.
void settle_subpixel(const deck::Data& data, Scan& scan) {
  geometry::WindowGrid& grid = scan.grid;
  const bool rounds = data.subpixel_bins > 0 && !scan.plan.model.own_probes;
  if (rounds) geometry::round_subpixel(grid, data.subpixel_bins);
  const bool whole = std::all_of(grid.subpixel.begin(), grid.subpixel.end(),
                                 [](Vec2 s) { return std::hypot(s.y, s.x) <= 1e-6; });
  if (whole || !data.subpixel) std::fill(grid.subpixel.begin(), grid.subpixel.end(), Vec2{});
  if (rounds) scan.subpixel_bin = geometry::subpixel_bins(grid, data.subpixel_bins);
}

/// An image of the detector on the device.
device::DeviceView<Real**> detector_view(const char* label, const auto& image) {
  using View = device::DeviceView<Real**>;
  const std::vector<Real> values(image.begin(), image.end());
  return device::to_device<View>(label, values.data(), View::array_layout(image.h(), image.w()));
}

/// What is left of the windows of this rank's positions; the others' are not needed any more.
void keep_own_subpixel(Scan& scan) {
  for (const int position : scan.tile().positions)
    scan.subpixel.push_back(scan.grid.subpixel[static_cast<std::size_t>(position)]);
  scan.grid.subpixel = std::vector<Vec2>();  // which gives its memory back, as {} would not
}

/// Of this rank's positions; a fly scan's lie evenly along the travel, in the middle of equal
/// parts.
std::vector<Place> places_of(const deck::Experiment& experiment, const Scan& scan) {
  const int n_sub = experiment.fly_sub_positions;
  const std::vector<double>& travel = experiment.fly_travel_m;
  const Vec2 travel_m = n_sub == 1 ? Vec2{} : Vec2{travel[0], travel[1]};
  std::vector<Place> places;
  for (std::size_t i = 0; i < scan.subpixel.size(); ++i) {
    const auto position = static_cast<std::size_t>(scan.tile().positions[i]);
    const Vec2 corner =
        as_vec2(scan.grid.corner[position]) + scan.subpixel[i] + scan.displacement_px[i];
    for (int t = 0; t < n_sub; ++t) {
      const double part = ((t + 0.5) / n_sub - 0.5) / scan.grid.pixel_m;
      const Vec2 at = corner + part * travel_m;
      const Pixel whole = n_sub == 1 ? scan.corner()[position] : nearest(at);
      places.push_back({whole, at - as_vec2(whole)});
    }
  }
  return places;
}

/// Corners and mask of this rank's positions; patterns come later, the order from the sweep.
/// @param has_subpixel any position of the scan
physics::ScanTile scan_tile(const Scan& scan, bool has_subpixel) {
  const decomposition::Tile& tile = scan.tile();
  const std::size_t n = tile.positions.size();
  std::vector<int> corner;
  for (const Place& place : scan.places) {
    const Pixel in_tile = place.corner - tile.ghosted.begin;
    corner.insert(corner.end(), {in_tile.y, in_tile.x});
  }
  physics::ScanTile made;
  made.window = scan.grid.window;
  using Corners = device::DeviceView<int* [2]>;
  made.corner = device::to_device<Corners>("tessera::physics::corner", corner.data(),
                                           Corners::array_layout(scan.places.size(), 2));
  made.has_subpixel = has_subpixel;
  made.valid_pixels = detector_view("tessera::physics::valid_pixels", scan.info.valid_pixels);
  if (scan.info.background.n() > 0)
    made.background = detector_view("tessera::physics::background", scan.info.background);
  made.saturation = static_cast<Real>(scan.info.saturation);
  made.order = device::DeviceView<int*>("tessera::physics::order", n);
  made.slot = device::DeviceView<int*>("tessera::physics::slot", n);
  made.slot_shift = device::DeviceView<Real* [2]>("tessera::physics::slot_shift", n);
  return made;
}

/// By position, true: not fitted.
std::vector<bool> left_out(const deck::Validation& validation, const Scan& scan) {
  if (validation.half == 0)
    return decomposition::held_out_positions(scan.n_positions(), validation.fraction,
                                             validation.seed);
  std::vector<bool> other = decomposition::second_half(scan.grid.corner, validation.seed);
  if (validation.half == 2) other.flip();
  return other;
}

bool has_subpixel(const geometry::WindowGrid& grid) {
  return std::ranges::any_of(grid.subpixel, [](Vec2 part) { return part != Vec2{}; });
}

/// Of fitted positions, before it is known which are empty.
void hold_out(const deck::Validation& validation, Scan& scan) {
  const std::vector<bool> held_out = left_out(validation, scan);
  for (int position = 0; position < scan.n_positions(); ++position)
    if (held_out[static_cast<std::size_t>(position)]) scan.held_out.push_back(position);
}

}  // namespace

Scan with_windows(const deck::Deck& deck, io::ScanInfo info, const comm::Communicator& comm) {
  Scan scan;
  scan.rank = comm.rank();
  scan.info = std::move(info);
  scan.beam.defocus_m = deck.probe.defocus_m;
  comm.together([&] {
    scan.plan = make_plan(deck, scan.info);
    scan.grid = geometry::lay_windows(positions_m(deck.data, scan.info), scan.info.pattern,
                                      scan.plan.optics.pixel_m, scan.plan.window_margin_px);
    settle_subpixel(deck.data, scan);
    plan_batches(deck, scan.grid, scan.plan);
    hold_out(deck.validation, scan);
  });
  return scan;
}

void cut_tiles(const deck::Deck& deck, const comm::Communicator& comm, Scan& scan) {
  std::optional<ResultFile> resumed;
  if (!deck.run.resume.empty() && deck.run.resume_fitted) resumed.emplace(deck.run.resume, comm);
  WindowsAtCut at_cut;
  if (resumed) at_cut = resumed->windows_at_cut(deck.refine, scan.grid);
  const bool moved = !at_cut.displacement.empty();
  if (moved)
    scan.moved_corner = resumed->moved_corners(at_cut.displacement, deck.refine, scan.grid);
  scan.same_windows = at_cut.same_windows;
  if (resumed) scan.bad = resumed->bad_patterns(scan.n_positions());
  const bool shifts = has_subpixel(scan.grid);
  comm.together([&] {
    scan.tiling = tiling_of(deck, scan, comm.size());
    keep_own_subpixel(scan);
  });
  scan.displacement_px.resize(scan.subpixel.size());
  if (moved) scan.displacement_px = resumed->displacements(at_cut.displacement, deck.refine, scan);
  comm.together([&] {
    scan.near = WindowReach(scan).near(scan.tiling, scan.rank);
    scan.places = places_of(deck.experiment, scan);
    scan.on_device = scan_tile(scan, shifts);
  });
}

Scan lay_out_scan(const deck::Deck& deck, io::ScanInfo info, const comm::Communicator& comm) {
  Scan scan = with_windows(deck, std::move(info), comm);
  cut_tiles(deck, comm, scan);
  return scan;
}

}  // namespace tessera::run
