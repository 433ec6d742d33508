#include "tessera/solvers/sweep.hpp"

#include <algorithm>

namespace tessera::solvers {
namespace {

std::vector<Vec2> shifts_of(const ScanShare& share) {
  std::vector<Vec2> shifts;
  for (const int position : share.positions) shifts.push_back(share.subpixel[position]);
  return shifts;
}

/// The first batch is as large as any.
std::size_t max_in_batch(const decomposition::BatchSchedule& schedule) {
  return schedule.n_batches() > 0 ? schedule.batch(0).size() : 0;
}

std::size_t n_parts(std::size_t n, std::size_t max) {
  return max == 0 ? 0 : (n + max - 1) / max;
}

/// The first values of `on_device` become `values`; the rest is not used.
template <class Value>
void copy_values(const device::Device& exec, const device::DeviceView<Value*>& on_device,
                 std::span<const Value> values) {
  Kokkos::deep_copy(exec, device::DeviceView<Value*>(on_device.data(), values.size()),
                    device::HostView<const Value*>(values.data(), values.size()));
}

}  // namespace

Sweep::Sweep(decomposition::BatchSchedule schedule, const ScanShare& share, int chunk_size,
             int max_slots, const physics::ScanTile& tile, halo::HaloExchange& halo,
             halo::Transport& transport)
    : schedule_(std::move(schedule)),
      on_border_(share.on_border),
      held_out_(share.held_out.begin(), share.held_out.end()),
      held_out_batches_(n_parts(held_out_.size(), max_in_batch(schedule_))),
      layout_(shifts_of(share), chunk_size, max_slots,
              n_batches() + static_cast<int>(held_out_batches_.size())),
      blocks_(share.ghosted, share.window, share.corner, schedule_.n_batches(),
              static_cast<int>(max_in_batch(schedule_))),
      batch_halo_(halo.plan(), {share.window, share.corner, share.tile_of}, schedule_.n_batches(),
                  static_cast<int>(max_in_batch(schedule_))),
      order_(tile.order),
      slot_(tile.slot),
      slot_shift_(tile.slot_shift),
      touched_("tessera::solvers::touched_blocks", blocks_.capacity()),
      pieces_(Kokkos::view_alloc("tessera::solvers::pieces", Kokkos::WithoutInitializing),
              batch_halo_.capacity()),
      host_slot_shift_("tessera::solvers::slot_shift", slot_shift_.extent(0)),
      halo_(halo),
      transport_(transport) {
  const int n_local = static_cast<int>(share.positions.size());
  const int n_scan = n_local == 0 ? 0 : share.positions.back() + 1;
  local_of_position_.assign(static_cast<std::size_t>(n_scan), -1);
  for (int i = 0; i < n_local; ++i) local_of_position_[share.positions[i]] = i;
  border_.reserve(share.positions.size());
  interior_.reserve(share.positions.size());
  pass_.reserve(share.positions.size() / static_cast<std::size_t>(chunk_size) +
                2 * (static_cast<std::size_t>(n_batches()) + held_out_batches_.size()));
  laid_out_.resize(static_cast<std::size_t>(schedule_.n_batches()));
  epoch_.resize(laid_out_.size());
}

std::int64_t Sweep::bytes(const physics::Sizes& sizes, const decomposition::HaloPlan& plan,
                          const decomposition::ScanWindows& windows, int max_in_batch) {
  using decomposition::BatchHalo;
  using decomposition::TouchedBlocks;
  const int n_batches = static_cast<int>(n_parts(windows.corner.size(), max_in_batch));
  return physics::bytes_of<int>(
             TouchedBlocks::capacity(sizes.ghosted, windows.window, n_batches, max_in_batch)) +
         physics::bytes_of<decomposition::Piece>(BatchHalo::capacity(plan, windows, n_batches)) +
         physics::bytes_of<Real>(2 * sizes.n_positions);
}

std::int64_t Sweep::host_bytes(const decomposition::HaloPlan& plan,
                               const decomposition::ScanWindows& windows, int max_in_batch) {
  return decomposition::BatchHalo::bytes(
      plan, windows, static_cast<int>(n_parts(windows.corner.size(), max_in_batch)));
}

std::span<const Batch> Sweep::start_epoch(const device::Device& exec, int epoch) {
  schedule_.start_epoch(epoch);
  if (!is_laid_out_ || !schedule_.fixed_members()) {
    lay_out_batches();
    copy_layout(exec);
    is_laid_out_ = true;
  }
  const std::span<const int> visits = schedule_.visiting_order();
  pass_.clear();
  for (std::size_t i = 0; i < epoch_.size(); ++i) {
    epoch_[i] = laid_out_[visits[i]];
    add_to_pass(epoch_[i]);
  }
  return epoch_;
}

std::span<const Batch> Sweep::start_held_out() {
  pass_.clear();
  for (const Batch& batch : held_out_batches_) add_to_pass(batch);
  return held_out_batches_;
}

void Sweep::add_to_pass(const Batch& batch) {
  for (const auto& chunks : {batch.border, batch.interior})
    pass_.insert(pass_.end(), chunks.begin(), chunks.end());
}

physics::Pass Sweep::pass() const {
  return {pass_, layout_.order(), schedule_.fixed_members()};
}

void Sweep::lay_out_batches() {
  layout_.clear();
  blocks_.clear();
  batch_halo_.clear();
  for (int id = 0; id < schedule_.n_batches(); ++id) {
    laid_out_[id] = lay_out(id, schedule_.batch(id));
    const int first_block = static_cast<int>(blocks_.blocks().size());
    const int n_blocks = blocks_.add_batch(schedule_.batch(id));
    laid_out_[id].touched = {touched_.data() + first_block, n_blocks};
    batch_halo_.add_batch(schedule_.batch(id));
    laid_out_[id].carried = {batch_halo_.batch(id), pieces_.data()};
  }
  const std::size_t max = max_in_batch(schedule_);
  for (std::size_t i = 0; i < held_out_batches_.size(); ++i)
    held_out_batches_[i] =
        lay_out(n_batches() + static_cast<int>(i),
                std::span(held_out_).subspan(i * max, std::min(max, held_out_.size() - i * max)));
}

Batch Sweep::lay_out(int id, std::span<const int> positions) {
  border_.clear();
  interior_.clear();
  for (const int position : positions) {
    if (position >= static_cast<int>(local_of_position_.size())) break;
    const int local = local_of_position_[position];
    if (local >= 0) (on_border_[local] ? border_ : interior_).push_back(local);
  }
  const decomposition::ChunkRange range = layout_.add_batch(border_, interior_);
  const physics::Chunk* chunks = layout_.chunks().data();
  return {id,
          {chunks + range.border_begin, chunks + range.interior_begin},
          {chunks + range.interior_begin, chunks + range.end},
          {},
          {}};
}

void Sweep::copy_layout(const device::Device& exec) {
  copy_values(exec, order_, layout_.order());
  copy_values(exec, slot_, layout_.slot());
  copy_values(exec, touched_, blocks_.blocks());
  copy_values(exec, pieces_, batch_halo_.pieces());
  const std::span<const Vec2> shifts = layout_.slot_shift();
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    host_slot_shift_(i, 0) = static_cast<Real>(shifts[i].y);
    host_slot_shift_(i, 1) = static_cast<Real>(shifts[i].x);
  }
  Kokkos::deep_copy(exec, slot_shift_, host_slot_shift_);
}

}  // namespace tessera::solvers
