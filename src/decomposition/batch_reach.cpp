#include "tessera/decomposition/batch_reach.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tessera::decomposition {
namespace {

template <class T>
std::int64_t bytes_of(const std::vector<T>& values) {
  return static_cast<std::int64_t>(values.capacity() * sizeof(T));
}

std::size_t with_room(std::size_t n, bool fixed_members) {
  return fixed_members ? n : n + n / 8 + 64;
}

}  // namespace

PositionNumbers::PositionNumbers(std::span<const int> positions) {
  const std::size_t n_words = positions.empty() ? 0 : positions.back() / 64 + 1;
  bits_.resize(n_words);
  for (const int position : positions) bits_[position / 64] |= std::uint64_t{1} << (position % 64);
  int n = 0;
  for (const std::uint64_t word : bits_) {
    n_before_.push_back(n);
    n += std::popcount(word);
  }
}

int PositionNumbers::operator[](int position) const {
  const auto word = static_cast<std::size_t>(position / 64);
  if (word >= bits_.size()) return -1;
  const std::uint64_t bit = std::uint64_t{1} << (position % 64);
  if ((bits_[word] & bit) == 0) return -1;
  return n_before_[word] + std::popcount(bits_[word] & (bit - 1));
}

BatchReach::BatchReach(const HaloPlan& plan, const NearWindows& windows, int n_batches)
    : numbers_(windows.positions),
      n_batches_(n_batches),
      batch_of_(windows.positions.size()),
      begin_(static_cast<std::size_t>(n_batches) + 1),
      members_(windows.positions.size()),
      blocks_(plan.ghosted, windows.window, windows.corner),
      halo_(plan, {windows.window, windows.corner, windows.tile_of}, n_batches) {
  first_block_.reserve(begin_.size());
}

BatchReach::BatchReach(const HaloPlan& plan, const NearWindows& windows,
                       const BatchSchedule& schedule)
    : BatchReach(plan, windows, schedule.n_batches()) {
  lay_out(schedule);
  keep_room(schedule.fixed_members());
}

BatchReach::BatchReach(const HaloPlan& plan, const NearWindows& windows,
                       std::span<const int> batch_of, int n_batches, bool fixed_members)
    : BatchReach(plan, windows, n_batches) {
  for (std::size_t i = 0; i < batch_of_.size(); ++i)
    batch_of_[i] = batch_of[static_cast<std::size_t>(windows.positions[i])];
  lay_out_numbers();
  keep_room(fixed_members);
}

void BatchReach::lay_out(const BatchSchedule& schedule) {
  std::ranges::fill(batch_of_, -1);
  for (int batch = 0; batch < n_batches_; ++batch)
    for (const int position : schedule.batch(batch))
      if (const int number = numbers_[position]; number >= 0)
        batch_of_[static_cast<std::size_t>(number)] = batch;
  lay_out_numbers();
  block_room_ = std::max(block_room_, blocks().size());
  piece_room_ = std::max(piece_room_, pieces().size());
}

void BatchReach::lay_out_numbers() {
  std::ranges::fill(begin_, 0);
  for (const int batch : batch_of_)
    if (batch >= 0) ++begin_[static_cast<std::size_t>(batch)];
  // begin_ holds ends until each batch has been filled from behind.
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  for (std::size_t i = batch_of_.size(); i-- > 0;)
    if (batch_of_[i] >= 0)
      members_[static_cast<std::size_t>(--begin_[static_cast<std::size_t>(batch_of_[i])])] =
          static_cast<int>(i);
  blocks_.clear();
  halo_.clear();
  first_block_.assign(1, 0);
  for (int batch = 0; batch < n_batches_; ++batch) {
    blocks_.add_batch(members(batch));
    halo_.add_batch(members(batch));
    first_block_.push_back(static_cast<int>(blocks().size()));
  }
}

void BatchReach::keep_room(bool fixed_members) {
  block_room_ = with_room(blocks().size(), fixed_members);
  piece_room_ = with_room(pieces().size(), fixed_members);
  blocks_.reserve(block_room_);
  halo_.reserve(piece_room_);
}

std::span<const int> BatchReach::members(int batch) const {
  const auto b = static_cast<std::size_t>(batch);
  const auto begin = static_cast<std::size_t>(begin_[b]);
  return std::span(members_).subspan(begin, static_cast<std::size_t>(begin_[b + 1]) - begin);
}

std::int64_t BatchReach::host_bytes() const {
  return bytes_of(batch_of_) + bytes_of(begin_) + bytes_of(members_) + bytes_of(first_block_) +
         blocks_.bytes() + halo_.bytes();
}

}  // namespace tessera::decomposition
