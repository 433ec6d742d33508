#include "run/rank_work.hpp"

#include <algorithm>
#include <cmath>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/decomposition/chunk_layout.hpp"
#include "tessera/decomposition/touched_blocks.hpp"

#include "physics/chip_shifts.hpp"
#include "physics/kernel_choice.hpp"
#include "solvers/methods.hpp"

namespace tessera::run {
namespace {

using decomposition::BatchReach;
using decomposition::HaloPlan;
using decomposition::NearWindows;

/// Of shifted probes, those that are made: once for all chunks that share them.
int shifts_made(const decomposition::ChunkLayout& layout, const decomposition::ChunkRange& range) {
  int n = 0;
  for (int i = range.border_begin; i < range.end; ++i) {
    const decomposition::Chunk& chunk = layout.chunks()[static_cast<std::size_t>(i)];
    if (chunk.ends_slots) n += chunk.n_slots;
  }
  return n;
}

/// Whether a GPU that the batch fills makes none of them beforehand.
bool has_many_shifts(const decomposition::ChunkLayout& layout,
                     const decomposition::ChunkRange& range, int n_modes, int window_px) {
  const auto chunks =
      layout.chunks().subspan(static_cast<std::size_t>(range.border_begin),
                              static_cast<std::size_t>(range.end - range.border_begin));
  return std::ranges::all_of(chunks, [&](const decomposition::Chunk& chunk) {
    return physics::ChipShifts::has_many(chunk, n_modes, window_px);
  });
}

std::int64_t touched_px(const BatchReach& reach, const HaloPlan& plan, int batch) {
  const decomposition::BlockGrid grid{plan.ghosted.shape()};
  std::int64_t n = 0;
  for (int i = reach.first_block(batch); i < reach.first_block(batch + 1); ++i) {
    const int block = reach.blocks()[static_cast<std::size_t>(i)];
    const int y = block / grid.columns() * grid.block.h;
    const int x = block % grid.columns() * grid.block.w;
    n += std::int64_t{std::min(grid.block.h, grid.tile.h - y)} *
         std::min(grid.block.w, grid.tile.w - x);
  }
  return n;
}

/// Numbers in the list of near windows -> positions of this rank, counted from 0; -1: others'.
struct OwnPositions {
  std::vector<int> number;
  std::vector<Vec2> subpixel;
  std::vector<bool> on_border;
};

OwnPositions own_positions(const Scan& scan, const HaloPlan& plan, const NearWindows& near) {
  OwnPositions own;
  own.number.assign(near.positions.size(), -1);
  for (std::size_t i = 0; i < near.positions.size(); ++i) {
    if (near.tile_of[i] != plan.rank) continue;
    own.number[i] = static_cast<int>(own.subpixel.size());
    own.subpixel.push_back(scan.subpixel[static_cast<std::size_t>(near.positions[i])]);
    own.on_border.push_back(!plan.owned.contains(Box::at(near.corner[i], near.window)));
  }
  return own;
}

}  // namespace

std::vector<cost::BatchWork> work_of_rank(const Scan& scan, const HaloPlan& plan,
                                          const NearWindows& near, const BatchReach& reach,
                                          int n_batches, bool on_gpu) {
  const OwnPositions own = own_positions(scan, plan, near);
  const physics::ModelOptions& model = scan.plan.model;
  const int chunk_size = std::max(1, scan.plan.max_in_chunk(own.subpixel.size()));
  decomposition::ChunkLayout layout(own.subpixel, chunk_size, std::max(chunk_size, model.max_slots),
                                    n_batches);
  const auto n_planes = std::int64_t{model.n_object_modes} * model.n_slices;
  std::vector<cost::BatchWork> work(static_cast<std::size_t>(n_batches));
  const int fewest_divided = physics::fewest_divided(scan.info.pattern, model.n_modes, on_gpu);
  std::vector<int> border;
  std::vector<int> interior;
  for (int id = 0; id < n_batches; ++id) {
    border.clear();
    interior.clear();
    for (const int near_number : reach.members(id))
      if (const int number = own.number[static_cast<std::size_t>(near_number)]; number >= 0)
        (own.on_border[static_cast<std::size_t>(number)] ? border : interior).push_back(number);
    decomposition::join_if_few(fewest_divided, border, interior);
    cost::BatchWork& batch = work[static_cast<std::size_t>(id)];
    batch.border = static_cast<int>(border.size());
    batch.interior = static_cast<int>(interior.size());
    const decomposition::ChunkRange range = layout.add_batch(border, interior);
    // Probes of positions' own are shifted each for itself.
    batch.border_chunks = range.interior_begin - range.border_begin;
    batch.interior_chunks = range.end - range.interior_begin;
    if (model.own_probes) {
      batch.shifts = batch.border + batch.interior;
      batch.many_shifts = true;
    } else if (scan.on_device.has_subpixel) {
      batch.shifts = shifts_made(layout, range);
      batch.many_shifts = has_many_shifts(layout, range, model.n_modes, scan.info.pattern.w);
    }
    batch.touched_px = touched_px(reach, plan, id);
    for (const decomposition::PeerMessages& peer : reach.messages(id)) {
      batch.sum_bytes += std::int64_t{peer.to_owners.send.n_pixels} *
                         scan.plan.max_reals_per_pixel * std::int64_t{sizeof(Real)};
      batch.value_bytes +=
          std::int64_t{peer.to_ghosts.send.n_pixels} * 2 * n_planes * std::int64_t{sizeof(Real)};
    }
  }
  return work;
}

cost::RunShape run_shape(const Scan& scan, const decomposition::Tiling& tiling,
                         const cost::Machine& machine) {
  if (machine.real_bytes != int{sizeof(Real)})
    throw InputError(text("the machine file is of a program with numbers of ", machine.real_bytes,
                          " bytes, this one has ", sizeof(Real), "; measure with this program"));
  const deck::Solver& solver = scan.plan.solvers.front();
  const auto method = machine.methods.find(solver.method);
  if (method == machine.methods.end())
    throw InputError(text("the machine file has no solver.method = \"", solver.method,
                          "\"; write it anew: tessera_bench machine"));
  const physics::ModelOptions& model = scan.plan.model;
  const Shape2 window = scan.info.pattern;
  cost::RunShape shape{.window_px = std::sqrt(static_cast<double>(window.size())),
                       .n_modes = model.n_modes,
                       .n_planes = model.n_object_modes * model.n_slices,
                       .n_ranks = static_cast<int>(tiling.tiles.size()),
                       .shared_bytes = (2 * scan.plan.n_probe_images() + 1) * window.size() *
                                       std::int64_t{sizeof(Real)},
                       .method = method->second};
  for (const decomposition::Tile& tile : tiling.tiles)
    shape.tile_px = std::max(shape.tile_px, tile.ghosted.area());
  shape.more_transforms = solvers::transforms_needed(solver, model.n_slices, 0) -
                          solvers::transforms_needed(solver, 1, 0);
  return shape;
}

}  // namespace tessera::run
