#include "tessera/run/memory.hpp"

#include <algorithm>

#include "tessera/base/error.hpp"
#include "tessera/base/host.hpp"
#include "tessera/base/text.hpp"
#include "tessera/deck/methods.hpp"
#include "tessera/decomposition/halo_plan.hpp"
#include "tessera/device/memory.hpp"
#include "tessera/fft/plan.hpp"
#include "tessera/physics/position_correlation.hpp"
#include "tessera/solvers/constraints.hpp"
#include "tessera/solvers/methods.hpp"

namespace tessera::run {

using decomposition::MemoryLimits;
using decomposition::MemoryNeeds;
using decomposition::MemoryPlan;
using decomposition::PatternsIn;
using device::complex;

namespace {

/// Of all solvers; 0: the whole scan.
int widest_batch(const deck::Deck& deck) {
  int widest = 0;
  for (const deck::Solver& solver : deck.solvers) {
    if (solver.batch_size == 0) return 0;
    widest = std::max(widest, solver.batch_size);
  }
  return widest;
}

/// Waves of a position at the detector.
int n_waves_of(const deck::Deck& deck) {
  return deck.probe.n_modes * deck.object.n_modes * deck.experiment.fly_sub_positions;
}

int n_planes(const deck::Deck& deck) {
  return deck.object.n_modes * deck.object.n_slices;
}

/// Its steps are kernels of their own, for the whole scan: starting them costs more than a cache
/// that holds what they hand on saves (README of scaling/, solvers).
bool runs_in_steps(const deck::Deck& deck) {
  return std::ranges::any_of(deck.solvers, [](const deck::Solver& solver) {
    return !deck::allows(solver.method, deck::Option::batches);
  });
}

}  // namespace

bool has_own_probes(const deck::Deck& deck) {
  return deck.refine.positions_from_epoch >= 0 || deck.refine.intensity_from_epoch >= 0 ||
         deck.probe.opr_modes > 0 || deck.experiment.fly_sub_positions > 1;
}

bool correlates_positions(const deck::Deck& deck) {
  return deck.refine.positions_from_epoch >= 0 &&
         deck.refine.positions_method == "cross_correlation";
}

int max_reals_per_pixel(const deck::Deck& deck) {
  return 3 * n_planes(deck);
}

/// On a host, as many positions as keep their waves in a second-level cache; on a device as many as
/// its own holds, and enough to fill it or to be worth many starts. What falls on each slice is
/// kept, hence fewer positions of a thick sample: always cheaper than to compute it once more.
int chunk_size(const deck::Deck& deck, Shape2 window) {
  constexpr std::int64_t cache_bytes = device::device_is_host ? 512 << 10 : 32 << 20;
  const std::int64_t least = device::device_is_host ? 1 : runs_in_steps(deck) ? 1024 : 256;
  const auto wave_bytes = static_cast<std::int64_t>(window.size() * n_waves_of(deck) *
                                                    deck.object.n_slices * sizeof(complex));
  const std::int64_t fit = std::max(least, cache_bytes / wave_bytes);
  if (device::device_is_host) return static_cast<int>(fit);
  constexpr std::int64_t most_bytes = std::int64_t{4} << 30;
  return static_cast<int>(std::max<std::int64_t>(1, std::min(fit, most_bytes / wave_bytes)));
}

/// On a device, room for all bins of a batch while it costs little; on a host, no more than the
/// cache holds.
int max_slots(const deck::Deck& deck, Shape2 window) {
  const int n_modes = deck.probe.n_modes;
  const int chunk = chunk_size(deck, window);
  if (device::device_is_host) return chunk;
  constexpr std::int64_t room_bytes = std::int64_t{1} << 30;
  const auto slot_bytes = static_cast<std::int64_t>(2 * window.size() * n_modes * sizeof(complex));
  const std::int64_t bins = (deck.data.subpixel_bins + 1) * (deck.data.subpixel_bins + 1);
  return static_cast<int>(std::max<std::int64_t>(chunk, std::min(bins, room_bytes / slot_bytes)));
}

int most_in_chunk(const deck::Deck& deck, Shape2 window, std::size_t n_positions) {
  const int most = std::min(chunk_size(deck, window), static_cast<int>(n_positions));
  const int widest = widest_batch(deck);
  return widest == 0 ? most : std::min(most, widest);
}

namespace {

std::int64_t halo_bytes(const deck::Deck& deck, const decomposition::Tiling& tiling, int rank) {
  std::int64_t pixels = 0;
  for (const decomposition::PeerBoxes& peer : make_halo_plan(tiling, rank).peers)
    pixels += 2 * std::max(peer.owned_here.area(), peer.ghost_here.area());
  return pixels * max_reals_per_pixel(deck) * static_cast<std::int64_t>(sizeof(Real));
}

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
MemoryLimits memory_limits(const deck::Run& run, const MemoryNeeds& needs,
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

/// More ranks than there are that hold the scan, each within `limits`.
std::optional<int> enough_ranks(const deck::Deck& deck, const Scan& scan,
                                const MemoryLimits& limits) {
  return decomposition::ranks_that_fit(
      static_cast<int>(scan.tiling.tiles.size()), scan.n_positions(), [&](int n_ranks) {
        const decomposition::Tiling tiling =
            decomposition::make_tiling(scan.grid.object, scan.grid.window, scan.corner, n_ranks, {},
                                       {}, tile_margin_px(deck, scan.reach_px));
        for (int rank = 0; rank < n_ranks; ++rank)
          if (!best_place(memory_needs(deck, scan.info, tiling, rank, scan.on_device.has_subpixel),
                          limits))
            return false;
        return true;
      });
}

}  // namespace

MemoryNeeds memory_needs(const deck::Deck& deck, const io::ScanInfo& info,
                         const decomposition::Tiling& tiling, int rank, bool has_subpixel) {
  const decomposition::Tile& tile = tiling.tiles[static_cast<std::size_t>(rank)];
  const auto n = static_cast<std::int64_t>(tile.positions.size());
  const int n_chunk = most_in_chunk(deck, info.pattern, tile.positions.size());
  const int chunk = chunk_size(deck, info.pattern);
  const int n_waves = chunk * n_waves_of(deck);
  constexpr auto wave_bytes = static_cast<std::int64_t>(sizeof(complex));
  constexpr auto real_bytes = static_cast<std::int64_t>(sizeof(Real));
  const std::int64_t object_bytes = n_planes(deck) * tile.ghosted.area() * wave_bytes;
  const std::int64_t mode_bytes = deck.probe.n_modes * info.pattern.size() * wave_bytes;
  const std::int64_t probe_bytes =
      (deck.probe.n_modes + deck.probe.opr_modes) * info.pattern.size() * wave_bytes;
  const std::int64_t waves_bytes = n_waves * info.pattern.size() * wave_bytes;

  const bool own_probes = has_own_probes(deck);
  const bool has_slots = has_subpixel || own_probes;
  const int n_slots =
      own_probes ? chunk * deck.experiment.fly_sub_positions : max_slots(deck, info.pattern);
  const int n_transformed = has_slots ? n_slots * deck.probe.n_modes : 0;
  const bool has_detector_images = deck.experiment.point_spread_px > 0 ||
                                   deck.refine.background_from_epoch >= 0 ||
                                   info.background.size() > 0;
  MemoryNeeds needs;
  needs.device = {
      {"object and its last good state", 2 * object_bytes},
      {"waves of a chunk", waves_bytes},
      {"waves that fall on further slices", (deck.object.n_slices - 1) * waves_bytes},
      {"propagators", deck.object.n_slices * info.pattern.size() * wave_bytes},
      {"images of the detector",
       has_detector_images ? 2 * chunk * info.pattern.size() * wave_bytes : 0},
      {"exit waves of near-field positions",
       own_probes && deck.experiment.propagation != "far_field" ? waves_bytes : 0},
      {"correlation of positions", correlates_positions(deck)
                                       ? physics::PositionCorrelation::bytes(
                                             {.n_object_modes = deck.object.n_modes,
                                              .n_sub_positions = deck.experiment.fly_sub_positions,
                                              .chunk_size = chunk},
                                             info.pattern) +
                                             n * 32
                                       : 0},
      {"shifted probes and their sums", has_slots ? 2 * n_slots * mode_bytes : 0},
      {"FFT work area", fft::work_bytes(info.pattern, std::max(n_waves, n_transformed))},
      {"probe, its last good state, its spectrum",
       3 * probe_bytes + info.pattern.size() * real_bytes},
      {"given background", 2 * static_cast<std::int64_t>(info.background.size()) * real_bytes},
      {"halo buffers", halo_bytes(deck, tiling, rank)},
      {"constraints",
       solvers::Constraints::bytes(deck.constraints, tile.ghosted.shape(), info.pattern,
                                   deck.probe.n_modes + deck.probe.opr_modes)},
      {"positions", n * (4 * static_cast<std::int64_t>(sizeof(int)) + 2 * real_bytes)},
      {"parameters of positions, their last good state",
       own_probes
           ? n * (deck.experiment.fly_sub_positions * 32 + (deck.probe.opr_modes + 3) * 24 + 64)
           : 0},
  };
  const physics::Sizes sizes{.model = {.n_modes = deck.probe.n_modes,
                                       .n_opr_modes = deck.probe.opr_modes,
                                       .n_object_modes = deck.object.n_modes,
                                       .n_slices = deck.object.n_slices,
                                       .n_sub_positions = deck.experiment.fly_sub_positions,
                                       .chunk_size = chunk,
                                       .max_slots = max_slots(deck, info.pattern)},
                             .window = info.pattern,
                             .ghosted = tile.ghosted.shape(),
                             .n_positions = static_cast<int>(n)};
  std::int64_t of_solver = 0;  // the largest: they follow one another
  for (const deck::Solver& solver : deck.solvers)
    of_solver = std::max(of_solver, solvers::method_bytes(solver, sizes));
  needs.device.push_back({"the method: sums, what it remembers", of_solver});
  needs.n_patterns = n;
  needs.n_chunk_patterns = n_chunk;
  needs.pattern_bytes = info.pattern.size() * static_cast<std::int64_t>(io::size_of(info.type));
  const auto element_bytes = static_cast<std::int64_t>(io::size_of(info.type));
  const std::int64_t recorded_bytes =
      info.frame.recorded.size() * (element_bytes + (info.has_own_masks ? 1 : 0));
  const std::int64_t most_bytes = std::max(needs.pattern_bytes, recorded_bytes);
  needs.file_chunk_bytes = info.positions_per_chunk.size() * most_bytes;
  // Piece, prepared piece and what arrives in a round; also while a pattern's place fills.
  const std::int64_t piece = std::min(info.n_positions * most_bytes,
                                      std::max(io::pattern_piece_bytes, needs.file_chunk_bytes));
  needs.host = {{"pieces of the file", 3 * piece},
                {"counts and centres of patterns",
                 info.n_positions * static_cast<std::int64_t>(sizeof(io::PatternMoments))}};
  return needs;
}

MemoryPlan agreed_memory_plan(const deck::Deck& deck, const Scan& scan,
                              const comm::Communicator& comm) {
  MemoryNeeds needs;
  comm.together([&] {
    needs = memory_needs(deck, scan.info, scan.tiling, comm.rank(), scan.on_device.has_subpixel);
  });
  const MemoryLimits limits = memory_limits(deck.run, needs, comm);
  for (const PatternsIn place : {PatternsIn::device, PatternsIn::host_memory}) {
    MemoryPlan plan = plan_memory(needs, place);
    if (!comm.any(!fits(plan, limits))) return plan;
  }
  MemoryPlan plan = plan_memory(needs, PatternsIn::file);
  comm.together([&] {
    if (!fits(plan, limits))
      throw InputError(text("[rank ", comm.rank(), "] ",
                            too_little_memory(needs, limits, enough_ranks(deck, scan, limits))));
  });
  return plan;
}

}  // namespace tessera::run
