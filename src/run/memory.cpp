#include "run/memory.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <ranges>

#include "tessera/base/error.hpp"
#include "tessera/base/host.hpp"
#include "tessera/base/text.hpp"
#include "tessera/decomposition/halo_plan.hpp"
#include "tessera/halo/halo_exchange.hpp"

#include "device/free_memory.hpp"
#include "io/writers.hpp"
#include "physics/forward_model.hpp"
#include "run/pattern_errors.hpp"
#include "solvers/constraint_list.hpp"
#include "solvers/methods.hpp"
#include "solvers/refinement.hpp"
#include "worst_patterns.hpp"

namespace tessera::run {

using decomposition::MemoryLimits;
using decomposition::MemoryNeeds;
using decomposition::MemoryPlan;
using decomposition::PatternsIn;

namespace {

/// This rank's part of what all ranks at `place` have together, in proportion to what they want.
/// Collective.
double share(const comm::Communicator& comm, const std::string& place, std::int64_t wanted_bytes) {
  const std::vector<std::string> all_places = comm.all_gather(place);
  const std::vector<std::int64_t> all_wanted =
      comm.all_gather(std::span<const std::int64_t>(&wanted_bytes, 1));
  std::int64_t together = 0;
  for (std::size_t rank = 0; rank < all_places.size(); ++rank)
    if (all_places[rank] == place) together += all_wanted[rank];
  return together == 0 ? 1 : static_cast<double>(wanted_bytes) / static_cast<double>(together);
}

/// Free memory less what libraries (NCCL, cuFFT, Kokkos) take on their own.
double usable_device_bytes() {
  constexpr double libraries_bytes = 1e9;
  return std::max(0.0, 0.97 * static_cast<double>(device::free_device_bytes()) - libraries_bytes);
}

/// Collective.
MemoryLimits memory_limits(const deck::Computation& run, const MemoryNeeds& needs,
                           const comm::Communicator& comm) {
  constexpr bool one_memory = device::device_is_host;
  const MemoryPlan resident = plan_memory(needs, PatternsIn::device);
  const std::int64_t device_bytes = total_bytes(resident.device);
  const std::int64_t host_bytes =
      one_memory ? device_bytes + total_bytes(resident.host)
                 : total_bytes(plan_memory(needs, PatternsIn::host_memory).host);
  const double host_share = share(comm, host_name(), host_bytes);
  const double device_share = share(comm, device::gpu_identity(), device_bytes);
  double host = run.host_memory_bytes;
  double device = run.device_memory_bytes;
  comm.together([&] {
    constexpr double left_to_others = 0.1;
    if (host == 0)
      host =
          host_share * (1 - left_to_others) * static_cast<double>(device::available_host_bytes());
    if (device == 0) device = one_memory ? host : device_share * usable_device_bytes();
  });
  return {static_cast<std::int64_t>(device), static_cast<std::int64_t>(host), one_memory};
}

/// The largest tile and that with the most positions: where these do not fit, no other has to be
/// looked at.
std::array<int, 2> fullest_tiles(const decomposition::Tiling& tiling) {
  const auto number_of = [&](const auto& value) {
    return static_cast<int>(std::ranges::max_element(tiling.tiles, {}, value) -
                            tiling.tiles.begin());
  };
  return {number_of([](const decomposition::Tile& tile) { return tile.ghosted.area(); }),
          number_of([](const decomposition::Tile& tile) { return tile.n_positions; })};
}

/// More ranks than there are that hold the scan, each within `limits`.
std::optional<int> enough_ranks(const deck::Deck& deck, const Scan& scan,
                                const PlannedBatches& batches, const MemoryLimits& limits) {
  decomposition::Tiling tiling;
  std::map<int, bool> fits;  // by rank of that tiling: of millions of positions each takes seconds
  const auto cut = [&](int n_ranks) {
    if (static_cast<int>(tiling.tiles.size()) == n_ranks) return;
    tiling = decomposition::make_tiling(scan.grid.object, scan.grid.window, scan.corner(), n_ranks,
                                        {}, scan.plan.tile_margin_px, 0);
    fits.clear();
  };
  const auto all_fit = [&](const auto& ranks) {
    return std::ranges::all_of(ranks, [&](int rank) {
      const auto [known, is_new] = fits.try_emplace(rank);
      if (is_new)
        known->second =
            best_place(memory_needs(deck, scan, tiling, rank, batches), limits).has_value();
      return known->second;
    });
  };
  std::optional<int> enough = decomposition::ranks_that_fit(
      static_cast<int>(scan.tiling.tiles.size()), scan.n_positions(), [&](int n_ranks) {
        cut(n_ranks);
        return all_fit(fullest_tiles(tiling));
      });
  while (enough) {
    cut(*enough);
    if (all_fit(std::views::iota(0, *enough))) break;
    if (++*enough > scan.n_positions()) enough.reset();
  }
  return enough;
}

/// What solvers take in memory; of each place the most, for they follow one another.
struct SolverBytes {
  std::int64_t device = 0;  ///< the method with its batches
  std::int64_t host = 0;    ///< lists of what batches exchange
  double copies = 0;        ///< of object and probe that a result keeps
};

/// What a solver's batches take.
struct BatchBytes {
  std::int64_t device = 0;
  std::int64_t host = 0;
};

/// @param batch_bytes of one of the plan's solvers, by its number
SolverBytes solver_bytes(const Scan& scan, const physics::Sizes& sizes, const auto& batch_bytes) {
  SolverBytes max;
  for (std::size_t i = 0; i < scan.plan.solvers.size(); ++i) {
    const deck::Solver& solver = scan.plan.solvers[i];
    const BatchBytes batches = batch_bytes(i);
    max.device = std::max(max.device, solvers::method_bytes(solver, sizes) + batches.device);
    max.host = std::max(max.host, batches.host);
    max.copies = std::max(max.copies, 1 + solvers::copies_remembered(solver));
  }
  return max;
}

/// What there is of every position on this rank, whoever has it: the corner of its window, the
/// bin of its shift, and while batches are dealt out its number, its batch and room to sort them.
std::int64_t bytes_of_all_positions(const Scan& scan) {
  const auto n_corners = std::ssize(scan.grid.corner) + std::ssize(scan.moved_corner);
  constexpr std::int64_t dealing_bytes = 5 * sizeof(int);
  return n_corners * static_cast<std::int64_t>(sizeof(Pixel)) +
         std::ssize(scan.subpixel_bin) * static_cast<std::int64_t>(sizeof(std::uint16_t)) +
         scan.n_positions() * dealing_bytes;
}

/// Of the file what a rank holds at once while patterns are read: a piece of its share, the same
/// prepared, what arrives from others in a round, and packed what a piece is made of; also while a
/// pattern's place fills.
std::int64_t reading_bytes(const io::ScanInfo& info, std::int64_t pattern_bytes, int n_ranks) {
  const std::int64_t chunk = info.positions_per_chunk.size();
  const std::int64_t n_chunks = (info.n_positions - 1) / chunk + 1;
  const std::int64_t of_share = ((n_chunks - 1) / n_ranks + 1) * chunk;
  const std::int64_t of_piece = std::max(io::pattern_piece_bytes / pattern_bytes, chunk);
  const std::int64_t piece =
      std::min({of_share, of_piece, std::int64_t{info.n_positions}}) * pattern_bytes;
  return (n_ranks > 1 ? 3 : 2) * piece +
         (info.is_deflated ? std::min(piece, io::inflating_bytes) : 0);
}

/// The copy of a result that is written: of the object each rank its own part, and on its way to
/// ranks that write for others another, of which these get several.
std::int64_t writing_bytes(const physics::Sizes& sizes, std::int64_t owned_pixels, double copies,
                           int ranks_per_writer) {
  const double part = static_cast<double>(owned_pixels) / static_cast<double>(sizes.ghosted.size());
  const std::int64_t own = std::llround(copies * (part * static_cast<double>(sizes.object_bytes()) +
                                                  static_cast<double>(sizes.probe_bytes())));
  if (ranks_per_writer == 1) return own;
  return own + own + std::min(ranks_per_writer * own, io::most_gathered_bytes);
}

/// What a rank has of the scan.
struct Share {
  int n_ranks = 1;
  int n_positions = 0;
  Shape2 ghosted;
  std::int64_t owned_pixels = 0;
  std::int64_t halo_bytes = 0;
};

physics::Sizes sizes_of(const deck::Deck& deck, const Scan& scan, const Share& share) {
  return {.model = scan.plan.model_for(static_cast<std::size_t>(share.n_positions)),
          .window = scan.info.pattern,
          .ghosted = share.ghosted,
          .n_positions = share.n_positions,
          .has_subpixel = scan.on_device.has_subpixel,
          .has_background = scan.plan.has_background,
          .moves_positions = deck.refine.positions.from_epoch >= 0};
}

MemoryNeeds needs_of(const deck::Deck& deck, const Scan& scan, const Share& share,
                     const auto& batch_bytes) {
  const io::ScanInfo& info = scan.info;
  const physics::Sizes sizes = sizes_of(deck, scan, share);
  constexpr std::int64_t few_numbers = 8 << 10;  // sums, steps, lengths: a handful of numbers each
  const SolverBytes of_solvers = solver_bytes(scan, sizes, batch_bytes);
  MemoryNeeds needs;
  needs.device = {
      {"object, probe and two good states of them",
       3 * (sizes.object_bytes() + sizes.probe_bytes())},
      {"parameters and two good states of them", 3 * physics::Parameters::bytes(sizes)},
      {"positions and mask", physics::ScanTile::bytes(sizes)},
      {"the model: waves, shifted probes and their sums", physics::ForwardModel::bytes(sizes)},
      {"refinement", solvers::Refinement::bytes(sizes)},
      {"halo buffers", share.halo_bytes},  // none where the transport, not yet known, needs none
      {"constraints", solvers::ConstraintList::bytes(deck.constraints, share.ghosted, info.pattern,
                                                     sizes.n_probe_images())},
      {"the method: sums, what it remembers", of_solvers.device},
      {"figures of single patterns", WorstPatterns::bytes(sizes) + PatternErrors::bytes(sizes)},
      {"a few numbers", few_numbers},
  };
  needs.n_patterns = share.n_positions;
  needs.n_chunk_patterns = scan.plan.max_in_chunk(static_cast<std::size_t>(share.n_positions));
  needs.pattern_bytes = info.pattern.size() * static_cast<std::int64_t>(io::size_of(info.type));
  const auto element_bytes = static_cast<std::int64_t>(io::size_of(info.type));
  const std::int64_t recorded_bytes =
      info.frame.recorded.size() * (element_bytes + (info.has_own_masks ? 1 : 0));
  const std::int64_t max_bytes = std::max(needs.pattern_bytes, recorded_bytes);
  needs.file_chunk_bytes = info.positions_per_chunk.size() * max_bytes;
  std::int64_t reading = reading_bytes(info, max_bytes, share.n_ranks);
  // In one memory the device's arrays come where the pieces were.
  if (device::device_is_host) reading -= total_bytes(needs.device);
  constexpr std::int64_t program_bytes = 38'000'000;  // as it starts, with MPI and HDF5, on a host
  // As many as if all ranks were on one host.
  const int ranks_per_writer = (share.n_ranks - 1) / deck.output.writers_per_host + 1;
  needs.host = {{"the program and its libraries", program_bytes},
                {"pieces of the file, at the end the result",
                 std::max(reading, writing_bytes(sizes, share.owned_pixels, of_solvers.copies,
                                                 ranks_per_writer))},
                {"corners and batches of all positions", bytes_of_all_positions(scan)},
                {"what batches exchange", of_solvers.host}};
  return needs;
}

}  // namespace

MemoryNeeds memory_needs(const deck::Deck& deck, const Scan& scan,
                         const decomposition::Tiling& tiling, int rank,
                         const PlannedBatches& batches) {
  const decomposition::Tile& tile = tiling.tiles[static_cast<std::size_t>(rank)];
  const decomposition::HaloPlan plan = decomposition::make_halo_plan(tiling, rank);
  const Share share{.n_ranks = static_cast<int>(tiling.tiles.size()),
                    .n_positions = tile.n_positions,
                    .ghosted = tile.ghosted.shape(),
                    .owned_pixels = tile.owned.area(),
                    .halo_bytes = halo::HaloExchange::bytes(plan, scan.plan.max_reals_per_pixel)};
  const physics::Sizes sizes = sizes_of(deck, scan, share);
  const decomposition::NearWindows near = batches.windows().near(tiling, rank);
  return needs_of(deck, scan, share, [&](std::size_t solver) {
    const decomposition::BatchReach reach = batches.reach(plan, near, solver);
    return BatchBytes{solvers::Sweep::bytes(sizes, reach), reach.host_bytes()};
  });
}

MemoryNeeds least_memory_needs(const deck::Deck& deck, const Scan& scan, int n_ranks) {
  const Shape2 object = scan.grid.object;
  const auto n_rows = static_cast<int>(std::sqrt(n_ranks));
  const auto n_columns = n_ranks / n_rows + (n_ranks % n_rows > 0 ? 1 : 0);
  const Shape2 part{std::max(1, object.h / n_rows), std::max(1, object.w / n_columns)};
  const Share share{.n_ranks = n_ranks,
                    .n_positions = scan.n_positions() / n_ranks,
                    .ghosted = part,
                    .owned_pixels = part.size()};
  return needs_of(deck, scan, share, [](std::size_t) { return BatchBytes{}; });
}

void check_least_memory(const deck::Deck& deck, const Scan& scan, const comm::Communicator& comm) {
  const int n_ranks = comm.size();
  const MemoryNeeds least = least_memory_needs(deck, scan, n_ranks);
  MemoryLimits limits = memory_limits(deck.run, least, comm);
  std::array<std::int64_t, 2> sums{limits.device_bytes, limits.host_bytes};
  comm.sum(sums);
  limits.device_bytes = sums[0] / n_ranks;
  limits.host_bytes = sums[1] / n_ranks;
  comm.together([&] {
    if (best_place(least, limits)) return;
    const auto fits_on = [&](int n) {
      return best_place(least_memory_needs(deck, scan, n), limits).has_value();
    };
    throw InputError(too_little_memory(
        least, limits, decomposition::ranks_that_fit(n_ranks, scan.n_positions(), fits_on),
        decomposition::Known::at_least));
  });
}

MemoryPlan agreed_memory_plan(const deck::Deck& deck, const Scan& scan,
                              const comm::Communicator& comm) {
  MemoryNeeds needs;
  std::optional<PlannedBatches> batches;
  comm.together([&] {
    batches.emplace(scan);
    needs = memory_needs(deck, scan, scan.tiling, comm.rank(), *batches);
  });
  const MemoryLimits limits = memory_limits(deck.run, needs, comm);
  for (const PatternsIn place : {PatternsIn::device, PatternsIn::host_memory}) {
    MemoryPlan plan = plan_memory(needs, place);
    if (!comm.any(!fits(plan, limits))) return plan;
  }
  MemoryPlan plan = plan_memory(needs, PatternsIn::file);
  comm.together([&] {
    if (!fits(plan, limits))
      throw InputError(
          text("[rank ", comm.rank(), "] ",
               too_little_memory(needs, limits, enough_ranks(deck, scan, *batches, limits),
                                 decomposition::Known::exactly)));
  });
  return plan;
}

}  // namespace tessera::run
