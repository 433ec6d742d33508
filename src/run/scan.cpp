#include "run/scan.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "decomposition/held_out.hpp"
#include "planned_batches.hpp"
#include "result_file.hpp"
#include "run/doubts.hpp"
#include "run/few_counts.hpp"
#include "run/memory.hpp"
#include "run/possible_beams.hpp"
#include "run/settled_solvers.hpp"
#include "scan_patterns.hpp"

namespace tessera::run {

bool tiles_are_due(const deck::Refine& refine, double drift_px) {
  return refine.positions.from_epoch >= 0 &&
         refine.positions.margin_px < refine.positions.limit_px &&
         drift_px > refine.positions.margin_px / 2;
}

std::vector<int> Scan::batch_sizes() const {
  std::vector<int> sizes;
  sizes.reserve(plan.solvers.size());
  for (const deck::Solver& solver : plan.solvers) sizes.push_back(solver.max_in_batch(n_fitted()));
  return sizes;
}

std::vector<int> Scan::fitted() const {
  std::vector<int> positions;
  positions.reserve(static_cast<std::size_t>(n_fitted()));
  auto next_empty = empty.begin();
  auto next_bad = bad.begin();
  auto next_held_out = held_out.begin();
  const auto takes = [](int position, auto& next, auto end) {
    if (next == end || *next != position) return false;
    ++next;
    return true;
  };
  for (int position = 0; position < n_positions(); ++position)
    if (!takes(position, next_empty, empty.end()) && !takes(position, next_bad, bad.end()) &&
        !takes(position, next_held_out, held_out.end()))
      positions.push_back(position);
  return positions;
}

double Scan::counts_per_pixel() const {
  return counts_per_pattern / static_cast<double>(std::max<std::int64_t>(1, info.n_trusted()));
}

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

/// Collective.
std::int64_t max_of_ranks(std::int64_t bytes, const comm::Communicator& comm) {
  std::array<double, 1> worst{static_cast<double>(bytes)};
  comm.maximum(worst);
  return static_cast<std::int64_t>(worst[0]);
}

/// Said where it is not a matter of course: on devices, and when patterns stream. Collective.
void tell_memory(const Scan& scan, const comm::Communicator& comm, const Log& log) {
  using decomposition::PatternsIn;
  const PatternsIn place = scan.memory.patterns;
  if (device::device_is_host && place == PatternsIn::device) return;
  const auto pattern_bytes =
      scan.info.pattern.size() * static_cast<std::int64_t>(io::size_of(scan.info.type));
  const auto n_mine = static_cast<std::int64_t>(scan.tile().positions.size());
  const std::string all = decomposition::bytes_text(max_of_ranks(n_mine * pattern_bytes, comm));
  const std::string device =
      decomposition::bytes_text(max_of_ranks(total_bytes(scan.memory.device), comm));
  const std::string host =
      decomposition::bytes_text(max_of_ranks(total_bytes(scan.memory.host), comm));
  const char* where = place == PatternsIn::device        ? " on the device"
                      : place == PatternsIn::host_memory ? " streamed from pinned host memory"
                                                         : " streamed from the file";
  log.info(text("patterns: ", all, where, "; a rank takes ", device, " of device memory and ", host,
                " of host memory"));
}

/// Of what all ranks have read: the mean pattern, and sum (sqrt(mean) - sqrt(I))^2 / sum I.
void find_mean(const io::PatternTotals& totals, Scan& scan) {
  const auto n_fitted = static_cast<double>(scan.n_fitted());
  scan.mean_pattern = totals.sum;
  double explained = 0;
  for (std::size_t i = 0; i < scan.mean_pattern.size(); ++i) {
    double& mean = scan.mean_pattern.data()[i];
    mean /= std::max(1.0, n_fitted - totals.n_ignored.data()[i]);
    explained += std::sqrt(mean) * totals.roots.data()[i];
  }
  scan.counts_per_pattern =
      std::accumulate(scan.mean_pattern.begin(), scan.mean_pattern.end(), 0.0);
  if (std::isfinite(counts_of(scan))) {
    scan.poisson_error = poisson_error(scan.mean_pattern);
    scan.dark_pixels = find_dark_pixels(totals, scan.info, scan.mean_pattern, scan.n_fitted());
  }
  const double counts = std::accumulate(totals.sum.begin(), totals.sum.end(), 0.0);
  scan.empty_error = 2 * (1 - explained / counts);
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

/// Takes `others`, ascending, from `positions`.
void without(const std::vector<int>& others, std::vector<int>& positions) {
  std::erase_if(positions,
                [&](int position) { return std::ranges::binary_search(others, position); });
}

void load_patterns(const deck::Deck& deck, const comm::Communicator& comm, const Log& log,
                   Scan& scan) {
  io::ScanSource source = scan.source;
  source.held_out.assign(static_cast<std::size_t>(scan.n_positions()), false);
  for (const std::vector<int>* kept_out : {&scan.bad, &scan.held_out})
    for (const int position : *kept_out) source.held_out[static_cast<std::size_t>(position)] = true;
  std::optional<PatternSample> sample;
  if (measures_curvature(deck, scan)) sample.emplace(deck, scan, comm);
  const io::PatternTotals totals =
      read_patterns(source, scan.plan.max_in_chunk(scan.tile().positions.size()), comm,
                    sample ? &*sample : nullptr, scan);
  scan.pattern_bytes_read = totals.bytes_read;
  scan.empty = totals.all_zero;
  without(scan.empty, scan.bad);
  without(scan.empty, scan.held_out);
  without(scan.bad, scan.held_out);
  if (!totals.all_zero.empty())
    log.warning(text(totals.all_zero.size(), " of ", scan.n_positions(),
                     " patterns hold no counts and are left out, the first at position ",
                     totals.all_zero.front()));
  scan.moments = totals.moments;
  if (sample) find_possible_beams(deck, *sample, comm, log, scan);
  find_mean(totals, scan);
  settle_solvers(deck, scan);
  for (const std::string& words : {words_on_counts(deck, scan), words_on_steps(deck, scan)})
    if (!words.empty()) log.info(words);
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

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Collective.
void leave_out_bad_pixels(const io::ScanSource& source, const comm::Communicator& comm,
                          const Log& log, io::ScanInfo& info) {
  const io::BadPixels bad = io::leave_out_bad_pixels(source, comm, info);
  if (const std::string doubt = doubt_of_pixels(bad, info.frame.stored()); !doubt.empty())
    log.warning(doubt);
}

/// Grid and batch sizes. Collective.
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

/// Tiles, and what is this rank's. Collective.
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

}  // namespace

Scan lay_out_scan(const deck::Deck& deck, io::ScanInfo info, const comm::Communicator& comm) {
  Scan scan = with_windows(deck, std::move(info), comm);
  cut_tiles(deck, comm, scan);
  return scan;
}

SeenScan look_at_scan(const deck::Deck& deck, io::ScanSource source, const comm::Communicator& comm,
                      const Log& log) {
  const auto start = std::chrono::steady_clock::now();
  io::ScanInfo info = io::read_scan_info(source, comm);
  if (deck.data.find_bad_pixels) leave_out_bad_pixels(source, comm, log, info);
  return {std::move(source), std::move(info), seconds_since(start)};
}

Scan load_scan(const deck::Deck& deck, SeenScan seen, const comm::Communicator& comm,
               const Log& log) {
  const auto start = std::chrono::steady_clock::now();
  Scan scan = with_windows(deck, std::move(seen.info), comm);
  check_least_memory(deck, scan, comm);
  cut_tiles(deck, comm, scan);
  scan.source = std::move(seen.source);
  scan.memory = agreed_memory_plan(deck, scan, comm);
  tell_memory(scan, comm, log);
  if (const std::string doubt = doubt_of_mask(scan); !doubt.empty()) log.warning(doubt);
  load_patterns(deck, comm, log, scan);
  if (log.speaks())
    for (const std::string& doubt : doubts_of_batches(deck, scan)) log.warning(doubt);
  scan.read_seconds = seen.seconds + seconds_since(start);
  return scan;
}

Scan load_scan(const deck::Deck& deck, io::ScanSource source, const comm::Communicator& comm,
               const Log& log) {
  return load_scan(deck, look_at_scan(deck, std::move(source), comm, log), comm, log);
}

}  // namespace tessera::run
