#pragma once
/// The exchange skeleton, once for every solver: visit a batch's positions, border first, while
/// sums travel.

#include <span>
#include <vector>

#include "tessera/decomposition/batch_reach.hpp"
#include "tessera/decomposition/batch_schedule.hpp"
#include "tessera/device/device.hpp"
#include "tessera/device/stream.hpp"
#include "tessera/halo/halo_exchange.hpp"
#include "tessera/physics/pattern_store.hpp"

namespace tessera::solvers {

/// Blocks of this rank's ghosted box (decomposition::BlockGrid) that windows of a batch reach,
/// whichever rank computes them: outside them a batch adds nothing.
struct BlockList {
  const int* number = nullptr;  ///< on the device
  int count = 0;
};

/// This rank's share of a batch. Border windows reach pixels that other ranks own; interior ones do
/// not.
struct Batch {
  int id = 0;  ///< the same positions in every epoch if the sweep's batches are fixed
  std::span<const physics::Chunk> border;
  std::span<const physics::Chunk> interior;
  BlockList touched;
  halo::CarriedPixels carried;                  ///< of an exchange: what its windows reach
  std::span<const physics::Chunk> sample = {};  ///< those of its chunks that are sampled

  /// Border and interior, which lie one after the other.
  std::span<const physics::Chunk> chunks() const {
    return {border.data(), border.size() + interior.size()};
  }
  /// In the epoch's order, of its first position; 0 if it has none.
  int first_place() const { return chunks().empty() ? 0 : chunks().front().begin; }
  /// Of this rank. They follow one another in the epoch's order.
  int n_positions() const {
    return chunks().empty()
               ? 0
               : chunks().back().begin + chunks().back().count - chunks().front().begin;
  }
};

/// What a rank knows of the scan.
struct ScanShare {
  std::span<const int> positions;  ///< scan positions of this rank, ascending
  std::vector<bool> on_border;     ///< for each of them: its window reaches another rank's pixels
  std::span<const Vec2> subpixel;  ///< of each of them, pixels
  /// Whose windows reach the tile; this rank's positions are among them.
  const decomposition::NearWindows& near;
  std::span<const int> held_out = {};  ///< scan positions that no batch holds but are looked at
  int fewest_divided = 0;              ///< of a batch: decomposition::join_if_few
  decomposition::Lanes lanes = {};     ///< of a chunk
  /// For each of the positions: in the sample that stands for its batch; empty: all are.
  std::vector<bool> sampled = {};
  double positions_per_sampled = 1;  ///< over all ranks
  /// Of a batch, so that its sample is in chunks of its own; else all of its chunks are sampled.
  int fewest_apart = 0;
};

class Sweep {
 public:
  /// @param tile its order, slot and slot_shift are what the sweep writes
  Sweep(decomposition::BatchSchedule schedule, const ScanShare& share, int chunk_size,
        int max_slots, const physics::ScanTile& tile, halo::HaloExchange& halo,
        halo::Transport& transport);

  /// Device memory of a rank whose batches reach this.
  static std::int64_t bytes(const physics::Sizes& sizes, const decomposition::BatchReach& reach);

  /// The batches of `epoch` (from 0), in the order in which to run them. Valid until the next call;
  /// allocates nothing.
  std::span<const Batch> start_epoch(const device::Device& exec, int epoch);
  /// The held-out positions in batches no larger than the others, which touch nothing; `pass` is
  /// then theirs. After `start_epoch`, until the next call.
  std::span<const Batch> start_held_out();
  /// These positions of this rank as a batch that touches nothing; `pass` is then theirs. Until the
  /// next call.
  /// @param local their numbers, ascending
  std::span<const Batch> start_chosen(const device::Device& exec, std::span<const int> local);
  int n_batches() const { return schedule_.n_batches(); }
  /// True if a batch has the same positions in every epoch.
  bool fixed_batches() const { return schedule_.fixed_members(); }
  /// The chunks of those batches one after another, for who has to prepare for them.
  physics::Pass pass() const;

  /// The sampled chunks of all batches, as a pass of its own. Where all are apart they stand for
  /// `positions_per_sampled` times as many positions.
  physics::Pass sample() const { return {sample_, layout_.order(), schedule_.fixed_members()}; }
  double positions_per_sampled() const { return positions_per_sampled_; }
  /// By local position, 1: in the sample; empty: all are.
  const device::DeviceView<std::uint8_t*>& sampled() const { return sampled_on_device_; }

  /// Whether shared sums may travel beside those of the object.
  bool sums_beside() const { return transport_.sums_beside(); }
  /// Sum over a batch: add(chunk) for every chunk, which writes `object_sums` and `shared_sums`;
  /// then owners hold the complete object sums and every rank the complete shared ones. The
  /// accumulate is under way behind the interior, and carries what the batch reaches. Shared sums
  /// that are empty do not travel. Collective.
  /// @param beside where add(chunk) leaves the last of the shared sums, and they are summed
  template <class Add>
  void sum(const device::Device& exec, const Batch& batch,
           std::span<const halo::TileField> object_sums,
           const device::DeviceView<Real*>& shared_sums, const Add& add,
           device::Beside* beside = nullptr) {
    add_all("border", batch.border, add);
    const halo::HaloExchange::Accumulation under_way =
        halo_.begin_accumulate(exec, object_sums, batch.carried);
    add_all("interior", batch.interior, [&](const physics::Chunk& chunk) {
      add(chunk);
      under_way.progress();
    });
    const bool is_shared = shared_sums.size() > 0;
    if (is_shared && beside && beside->is_apart()) {
      all_reduce_reals(beside->fork(exec), shared_sums);
      under_way.finish(exec);
      return;
    }
    const bool along =
        is_shared && under_way.is_under_way() && transport_.reduce_along(shared_sums);
    under_way.finish(exec);
    if (is_shared && !along) all_reduce_reals(exec, shared_sums);
  }

  /// Sums over all ranks, of probe-sized values. Collective.
  void all_reduce_reals(const device::Device& exec, const device::DeviceView<Real*>& values) {
    const device::Region region("reduce");
    const Kokkos::Timer timer;
    transport_.all_reduce(exec, values);
    reduce_seconds_ += timer.seconds();
  }
  /// Sums over all ranks, of numbers. Collective.
  void all_reduce(const device::Device& exec, const device::DeviceView<double*>& values) {
    const device::Region region("reduce");
    const Kokkos::Timer timer;
    transport_.all_reduce_doubles(exec, values);
    reduce_seconds_ += timer.seconds();
  }

  /// Owners' values to all ghosts. Collective.
  void fill(const device::Device& exec, const halo::TileField& field) {
    halo_.fill(exec, {&field, 1});
  }
  /// The same where nothing but what the batch's windows reach has changed since. Collective.
  void fill(const device::Device& exec, const Batch& batch, const halo::TileField& field) {
    halo_.fill(exec, {&field, 1}, batch.carried);
  }
  /// From rank 0 to all, so that what is replicated stays the same to the last bit. Collective.
  void replicate(const device::Device& exec, const device::DeviceView<Real*>& values) {
    const device::Region region("replicate");
    const Kokkos::Timer timer;
    transport_.broadcast(exec, values);
    reduce_seconds_ += timer.seconds();
  }

  double reduce_seconds() const { return reduce_seconds_; }

 private:
  template <class Add>
  static void add_all(const char* name, std::span<const physics::Chunk> chunks, const Add& add) {
    const device::Region region(name);
    for (const physics::Chunk& chunk : chunks) add(chunk);
  }
  void lay_out_batches();
  /// @param members near windows
  Batch lay_out(int id, std::span<const int> members);
  std::span<const physics::Chunk> append_sample(std::span<const physics::Chunk> chunks);
  /// Moves the sampled ones of `positions` to `sample`.
  void take_sample(std::vector<int>& positions, std::vector<int>& sample) const;
  void add_to_pass(const Batch& batch);
  void copy_order(const device::Device& exec);

  decomposition::BatchSchedule schedule_;
  decomposition::BatchReach reach_;
  std::vector<int> local_of_near_;  ///< -1: another rank's
  std::vector<bool> on_border_;
  std::vector<bool> sampled_;
  double positions_per_sampled_;
  int fewest_apart_;
  device::DeviceView<std::uint8_t*> sampled_on_device_;
  int fewest_divided_;
  std::vector<std::vector<int>> held_out_;  ///< near windows of each batch of them
  std::vector<Batch> held_out_batches_;
  Batch chosen_;
  decomposition::ChunkLayout layout_;
  device::DeviceView<int*> order_;
  device::DeviceView<int*> slot_;
  device::DeviceView<Real* [2]> slot_shift_;
  device::DeviceView<int*> touched_;
  device::DeviceView<decomposition::Piece*> pieces_;
  device::HostView<Real* [2]> host_slot_shift_;
  std::vector<int> border_;
  std::vector<int> interior_;
  std::vector<int> border_sample_;
  std::vector<int> interior_sample_;
  std::vector<Batch> laid_out_;       ///< by batch id
  std::vector<Batch> epoch_;          ///< in visiting order
  std::vector<physics::Chunk> pass_;  ///< of epoch_, or of held_out_batches_, flattened
  std::vector<physics::Chunk> sample_;
  bool is_laid_out_ = false;
  halo::HaloExchange& halo_;
  halo::Transport& transport_;
  double reduce_seconds_ = 0;
};

}  // namespace tessera::solvers
