// How long a rank of a large job takes to find its share of the scan, and what it keeps of every
// position. One process stands for the rank in the middle of any number; no pattern is made.

#include <array>
#include <chrono>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <malloc.h>
#include <nlohmann/json.hpp>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/decomposition/batch_reach.hpp"
#include "tessera/geometry/windows.hpp"

#include "commands.hpp"
#include "decomposition/batch_size.hpp"
#include "decomposition/window_index.hpp"

namespace tessera::scaling {
namespace {

using namespace decomposition;

std::int64_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

/// Seconds of each step, in their order.
class Steps {
 public:
  template <class Work>
  void time(const char* name, const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    fmt::print("{:<36} {:>8.3f} s\n", name, seconds.count());
    json_[name] = seconds.count();
  }
  const nlohmann::json& json() const { return json_; }

 private:
  nlohmann::json json_;
};

geometry::WindowGrid jittered_raster(const StartupOptions& options) {
  const auto step = static_cast<double>(options.step_px);
  std::vector<Vec2> positions =
      geometry::raster_scan(options.raster.at(0), options.raster.at(1), {step, step});
  geometry::jitter(positions, 0.2 * step, 1);
  return geometry::lay_windows(positions, {options.window_px, options.window_px}, 1);
}

std::vector<int> all_of(const geometry::WindowGrid& grid) {
  std::vector<int> all(grid.corner.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Every position is the one tile's that its cuts say, and none has two more than another.
void check_tiles(const Tiling& tiling, std::span<const Pixel> corner) {
  std::vector<int> n_positions(tiling.tiles.size());
  for (std::size_t i = 0; i < corner.size(); ++i)
    ++n_positions[static_cast<std::size_t>(tiling.tile_of(static_cast<int>(i), corner[i]))];
  const auto floor = static_cast<int>(corner.size() / tiling.tiles.size());
  for (std::size_t t = 0; t < tiling.tiles.size(); ++t)
    if (n_positions[t] != tiling.tiles[t].n_positions || n_positions[t] < floor ||
        n_positions[t] > floor + 1)
      throw InputError(text("tile ", t, " has ", n_positions[t], " positions, not ",
                            tiling.tiles[t].n_positions, ", about ", floor));
}

NearWindows near_windows(const geometry::WindowGrid& grid, const Tiling& tiling, int rank) {
  const WindowIndex index(grid.corner, grid.window);
  NearWindows near{grid.window, index.reaching(tiling.tiles[rank].ghosted), {}, {}};
  for (const int position : near.positions) {
    near.corner.push_back(grid.corner[static_cast<std::size_t>(position)]);
    near.tile_of.push_back(tiling.tile_of(position, near.corner.back()));
  }
  return near;
}

}  // namespace

void bench_startup(const StartupOptions& options, const comm::Communicator& comm) {
  if (comm.size() > 1) throw InputError("startup stands for one rank; start it without mpirun");
  const int rank = options.n_ranks / 2;
  Steps steps;
  geometry::WindowGrid grid = jittered_raster(options);
  const auto n = static_cast<double>(grid.corner.size());
  grid.subpixel = std::vector<Vec2>();
  malloc_trim(0);
  const std::int64_t before = heap_bytes();
  int batch_size = options.batch_size;
  steps.time("batch size", [&] {
    const int wanted = batch_size_of(2, covered_windows(grid.corner, grid.window),
                                     static_cast<int>(grid.corner.size()));
    if (batch_size == 0) batch_size = wanted;
  });
  Tiling tiling;
  steps.time("tiles", [&] {
    tiling = make_tiling(grid.object, grid.window, grid.corner, options.n_ranks, {}, 0, rank);
  });
  NearWindows near;
  steps.time("windows that reach the tile", [&] { near = near_windows(grid, tiling, rank); });
  std::unique_ptr<BatchSchedule> batches;
  steps.time("batches", [&] {
    batches = std::make_unique<BatchSchedule>(all_of(grid), grid.corner, batch_size,
                                              batch_order_from(options.batch_order), 1);
  });
  const HaloPlan plan = make_halo_plan(tiling, rank);
  std::unique_ptr<BatchReach> reach;
  steps.time("what batches reach of the tile", [&] {
    reach = std::make_unique<BatchReach>(plan, near, *batches);
    batches->forget_fixed_members();
  });
  malloc_trim(0);
  const double kept = static_cast<double>(heap_bytes() - before) / n;
  const double corners = sizeof(Pixel);
  check_tiles(tiling, grid.corner);
  const auto used = static_cast<double>(reach->blocks().size());
  const double reserved_to_used = static_cast<double>(reach->block_room()) / used;
  fmt::print(
      "{} positions, {} ranks: batches of {}, {} own and {} near positions\n"
      "kept of every position: {:.2f} bytes, of them {} its corner\n"
      "touched blocks: {} reserved, {:.3f} times those used\n",
      grid.corner.size(), options.n_ranks, batch_size,
      tiling.tiles[static_cast<std::size_t>(rank)].n_positions, near.positions.size(),
      kept + corners, corners, reach->block_room(), reserved_to_used);
  write_json(options.json,
             {{"command", "startup"},
              {"positions", grid.corner.size()},
              {"ranks", options.n_ranks},
              {"batch_size", batch_size},
              {"batch_order", options.batch_order},
              {"seconds", steps.json()},
              {"bytes_of_every_position", kept + corners},
              {"blocks_reserved_to_used", reserved_to_used}},
             comm);
}

}  // namespace tessera::scaling
