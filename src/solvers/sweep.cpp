#include "tessera/solvers/sweep.hpp"

#include <algorithm>
#include <iterator>

namespace tessera::solvers {
namespace {

/// In batches of at most `max`, those that are near: their numbers in the list.
std::vector<std::vector<int>> near_batches(std::span<const int> positions, int max,
                                           std::span<const int> near) {
  const decomposition::PositionNumbers numbers(near);
  std::vector<std::vector<int>> batches;
  for (std::size_t i = 0; max > 0 && i < positions.size(); ++i) {
    if (i % static_cast<std::size_t>(max) == 0) batches.emplace_back();
    if (const int number = numbers[positions[i]]; number >= 0) batches.back().push_back(number);
  }
  return batches;
}

/// Local numbers of near windows; -1: another rank's.
std::vector<int> local_numbers(std::span<const int> near, std::span<const int> positions) {
  std::vector<int> local(near.size(), -1);
  const decomposition::PositionNumbers numbers(positions);
  std::ranges::transform(near, local.begin(), [&](int position) { return numbers[position]; });
  return local;
}

device::DeviceView<std::uint8_t*> on_device(const std::vector<bool>& sampled) {
  const std::vector<std::uint8_t> values(sampled.begin(), sampled.end());
  using View = device::DeviceView<std::uint8_t*>;
  return device::to_device<View>("tessera::solvers::sampled", values.data(),
                                 View::array_layout(values.size()));
}

template <class Value>
void make_room(device::DeviceView<Value*>& on_device, std::size_t n) {
  if (on_device.size() < n)
    on_device = device::DeviceView<Value*>(
        Kokkos::view_alloc(on_device.label(), Kokkos::WithoutInitializing), n);
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
      reach_(halo.plan(), share.near, schedule_),
      local_of_near_(local_numbers(share.near.positions, share.positions)),
      on_border_(share.on_border),
      sampled_(share.sampled),
      positions_per_sampled_(share.positions_per_sampled),
      fewest_apart_(share.fewest_apart),
      sampled_on_device_(on_device(share.sampled)),
      fewest_divided_(share.fewest_divided),
      held_out_(near_batches(share.held_out, schedule_.max_in_batch(), share.near.positions)),
      held_out_batches_(held_out_.size()),
      layout_(share.subpixel, chunk_size, max_slots,
              (sampled_.empty() ? 1 : 2) * n_batches() + static_cast<int>(held_out_batches_.size()),
              share.lanes),
      order_(tile.order),
      slot_(tile.slot),
      slot_shift_(tile.slot_shift),
      touched_("tessera::solvers::touched_blocks", reach_.block_room()),
      pieces_(Kokkos::view_alloc("tessera::solvers::pieces", Kokkos::WithoutInitializing),
              reach_.piece_room()),
      host_slot_shift_("tessera::solvers::slot_shift", slot_shift_.extent(0)),
      halo_(halo),
      transport_(transport) {
  schedule_.forget_fixed_members();
  border_.reserve(share.positions.size());
  interior_.reserve(share.positions.size());
  border_sample_.reserve(sampled_.size());
  interior_sample_.reserve(sampled_.size());
  pass_.reserve(share.positions.size() / static_cast<std::size_t>(chunk_size) +
                (sampled_.empty() ? 2 : 4) *
                    (static_cast<std::size_t>(n_batches()) + held_out_batches_.size()));
  sample_.reserve(pass_.capacity());
  laid_out_.resize(static_cast<std::size_t>(schedule_.n_batches()));
  epoch_.resize(laid_out_.size());
}

std::int64_t Sweep::bytes(const physics::Sizes& sizes, const decomposition::BatchReach& reach) {
  return physics::bytes_of<int>(static_cast<std::int64_t>(reach.block_room())) +
         physics::bytes_of<decomposition::Piece>(static_cast<std::int64_t>(reach.piece_room())) +
         physics::bytes_of<Real>(2 * sizes.n_positions) +
         physics::bytes_of<std::uint8_t>(sizes.n_positions);
}

std::span<const Batch> Sweep::start_epoch(const device::Device& exec, int epoch) {
  schedule_.start_epoch(epoch);
  if (!is_laid_out_ || !schedule_.fixed_members()) {
    lay_out_batches();
    copy_order(exec);
    copy_values(exec, touched_, reach_.blocks());
    copy_values(exec, pieces_, reach_.pieces());
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

/// In the room of all batches, which are laid out anew for the next epoch.
std::span<const Batch> Sweep::start_chosen(const device::Device& exec, std::span<const int> local) {
  is_laid_out_ = false;
  layout_.clear();
  border_.assign(local.begin(), local.end());
  layout_.add_batch(border_, {});
  copy_order(exec);
  chosen_.border = layout_.chunks();
  pass_.clear();
  add_to_pass(chosen_);
  return {&chosen_, 1};
}

void Sweep::add_to_pass(const Batch& batch) {
  for (const auto& chunks : {batch.border, batch.interior})
    pass_.insert(pass_.end(), chunks.begin(), chunks.end());
}

physics::Pass Sweep::pass() const {
  return {pass_, layout_.order(), schedule_.fixed_members()};
}

void Sweep::lay_out_batches() {
  if (!schedule_.fixed_members()) reach_.lay_out(schedule_);
  make_room(touched_, reach_.blocks().size());
  make_room(pieces_, reach_.pieces().size());
  layout_.clear();
  sample_.clear();
  for (int id = 0; id < schedule_.n_batches(); ++id) {
    laid_out_[id] = lay_out(id, reach_.members(id));
    const int first_block = reach_.first_block(id);
    laid_out_[id].touched = {touched_.data() + first_block,
                             reach_.first_block(id + 1) - first_block};
    laid_out_[id].carried = {reach_.messages(id), pieces_.data()};
    laid_out_[id].sample = append_sample(laid_out_[id].chunks());
  }
  for (std::size_t i = 0; i < held_out_batches_.size(); ++i)
    held_out_batches_[i] = lay_out(n_batches() + static_cast<int>(i), held_out_[i]);
}

Batch Sweep::lay_out(int id, std::span<const int> members) {
  border_.clear();
  interior_.clear();
  for (const int number : members) {
    const int local = local_of_near_[static_cast<std::size_t>(number)];
    if (local >= 0) (on_border_[local] ? border_ : interior_).push_back(local);
  }
  decomposition::join_if_few(fewest_divided_, border_, interior_);
  const bool apart =
      !sampled_.empty() && std::ssize(border_) + std::ssize(interior_) >= fewest_apart_;
  border_sample_.clear();
  interior_sample_.clear();
  if (apart) {
    take_sample(border_, border_sample_);
    take_sample(interior_, interior_sample_);
  }
  const decomposition::ChunkRange first = layout_.add_batch(border_sample_, {});
  const decomposition::ChunkRange range = layout_.add_batch(border_, interior_, !apart);
  const decomposition::ChunkRange last = layout_.add_batch({}, interior_sample_);
  const physics::Chunk* chunks = layout_.chunks().data();
  return {id,
          {chunks + first.border_begin, chunks + range.interior_begin},
          {chunks + range.interior_begin, chunks + last.end},
          {},
          {}};
}

void Sweep::take_sample(std::vector<int>& positions, std::vector<int>& sample) const {
  const auto is_sampled = [&](int local) { return sampled_[local]; };
  std::ranges::copy_if(positions, std::back_inserter(sample), is_sampled);
  std::erase_if(positions, is_sampled);
}

std::span<const physics::Chunk> Sweep::append_sample(std::span<const physics::Chunk> chunks) {
  const std::size_t begin = sample_.size();
  std::ranges::copy_if(chunks, std::back_inserter(sample_), &physics::Chunk::sampled);
  return std::span(sample_).subspan(begin);
}

void Sweep::copy_order(const device::Device& exec) {
  copy_values(exec, order_, layout_.order());
  copy_values(exec, slot_, layout_.slot());
  const std::span<const Vec2> shifts = layout_.slot_shift();
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    host_slot_shift_(i, 0) = static_cast<Real>(shifts[i].y);
    host_slot_shift_(i, 1) = static_cast<Real>(shifts[i].x);
  }
  Kokkos::deep_copy(exec, slot_shift_, host_slot_shift_);
}

}  // namespace tessera::solvers
