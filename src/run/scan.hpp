#pragma once
/// From the deck to this rank's share of the scan.

#include <cmath>
#include <span>
#include <vector>

#include "tessera/base/log.hpp"
#include "tessera/comm/communicator.hpp"
#include "tessera/decomposition/batch_reach.hpp"
#include "tessera/decomposition/tiles.hpp"
#include "tessera/geometry/windows.hpp"
#include "tessera/physics/scan_tile.hpp"

#include "analysis/scan_source.hpp"
#include "deck/deck.hpp"
#include "decomposition/memory_plan.hpp"
#include "io/scan_reader.hpp"
#include "optics/feature_motion.hpp"
#include "run/dark_pixels.hpp"
#include "run/plan.hpp"

namespace tessera::run {

/// Where one window lies.
struct Place {
  Pixel corner;   ///< object pixels
  Vec2 subpixel;  ///< what is left, pixels
};

inline Pixel nearest(Vec2 at) {
  return {static_cast<int>(std::lround(at.y)), static_cast<int>(std::lround(at.x))};
}

/// How curved the beam is that a run starts with.
struct StartBeam {
  double defocus_m = 0;          ///< in a far field
  optics::FeatureMotion motion;  ///< in a near field: a flat wave's where nothing says otherwise
};

struct Scan {
  io::ScanSource source;
  io::ScanInfo info;
  Plan plan;
  geometry::WindowGrid grid;     ///< sub-pixel parts: see `subpixel`
  decomposition::Tiling tiling;  ///< lists the positions of this rank alone
  int rank = 0;
  std::vector<std::uint16_t> subpixel_bin;  ///< of all positions; empty: they have no bins
  // Of this rank's positions:
  std::vector<Vec2> subpixel;  ///< what windows lack of the grid's corners, pixels
  /// When the tiles were cut, pixels from the grid's: where an earlier run had moved them.
  std::vector<Vec2> displacement_px;
  /// The result that is resumed says where exactly its windows are now.
  bool same_windows = false;
  std::vector<Pixel> moved_corner;  ///< of all windows, there; empty: where the grid has them
  std::vector<Place> places;        ///< of this rank, (position, sub-position of a fly scan)
  std::vector<int> empty;           ///< scan positions without counts, ascending: they take no part
  std::vector<int> bad;             ///< that contradict those around them, ascending, the same
  std::vector<int> held_out;        ///< the others that are for validation, ascending
  decomposition::NearWindows near;  ///< whose windows may reach this rank's tile
  io::MomentsOfPositions moments;   ///< of fitted positions that this rank has read, for the start
  /// (1, h, w): of each pixel, over the fitted positions that do not ignore it.
  ImageStack<double> mean_pattern;
  double counts_per_pattern = 0;  ///< of mean_pattern
  /// Pixels that its light lies in, as many as would have it were they alike: (sum of roots)^2 /
  /// sum.
  double lit_pixels = 0;
  DarkPixels dark_pixels;               ///< of whole counts
  double poisson_error = 0;             ///< what noise alone leaves; 0: not of whole counts
  double empty_error = 0;               ///< of mean_pattern in place of every pattern
  StartBeam beam;                       ///< with which the run starts
  std::vector<StartBeam> beams;         ///< that it may be; more than one: to be tried
  double first_unless_below = 1;        ///< the first, unless an error is so many times its own
  decomposition::MemoryPlan memory;     ///< of this rank
  physics::ScanTile on_device;          ///< of this rank's positions
  std::int64_t pattern_bytes_read = 0;  ///< by this rank
  double read_seconds = 0;

  const decomposition::Tile& tile() const { return tiling.tiles[static_cast<std::size_t>(rank)]; }
  int n_positions() const { return info.n_positions; }
  int n_fitted() const {
    return n_positions() - static_cast<int>(empty.size() + bad.size() + held_out.size());
  }
  /// Scan positions that are neither empty, bad nor held out, ascending.
  std::vector<int> fitted() const;
  /// Counts of a trusted pixel of the fitted positions, on average.
  double counts_per_pixel() const;
  /// Of all windows, object pixels.
  std::span<const Pixel> corner() const {
    return moved_corner.empty() ? grid.corner : moved_corner;
  }
  /// Positions of a batch of every solver, at most.
  std::vector<int> batch_sizes() const;
};

/// Positions that have moved by `drift_px` since the tiles were cut leave too little of the margin.
bool tiles_are_due(const deck::Refine& refine, double drift_px);

using analysis::scan_source;

/// Grid, tiles and this rank's positions; the patterns, the fitted positions and their counts are
/// still missing. Collective.
/// @throws AgreedError
Scan lay_out_scan(const deck::Deck& deck, io::ScanInfo info, const comm::Communicator& comm);

/// What is known of a scan before its patterns are dealt out.
struct SeenScan {
  io::ScanSource source;
  io::ScanInfo info;  ///< without bad pixels
  double seconds = 0;
};

/// Metadata to all ranks. Needs no device. Collective.
/// @param source where the scan lies, such as scan_source(deck)
/// @throws AgreedError: everything that can be wrong with them
SeenScan look_at_scan(const deck::Deck& deck, io::ScanSource source, const comm::Communicator& comm,
                      const Log& log);

/// Tiles balanced over the ranks, a memory plan, then every pattern to its owner. Collective.
/// @throws AgreedError: everything that can be wrong with the data; too little memory
Scan load_scan(const deck::Deck& deck, SeenScan seen, const comm::Communicator& comm,
               const Log& log);
/// Both.
Scan load_scan(const deck::Deck& deck, io::ScanSource source, const comm::Communicator& comm,
               const Log& log);

}  // namespace tessera::run
