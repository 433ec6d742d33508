#include "tessera/decomposition/chunk_layout.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>

#include "tessera/base/text.hpp"

namespace tessera::decomposition {
namespace {

bool before(Vec2 a, Vec2 b) {
  return std::tie(a.y, a.x) < std::tie(b.y, b.x);
}

/// Of a lane's run. Lanes are dealt as WindowRun (window_chip_cuda.cuh) does on the device: the
/// first have a place more if they are not of one length.
int first_place(int lane, int n, int n_lanes) {
  return lane * (n / n_lanes) + std::min(lane, n % n_lanes);
}

/// Lanes that share every slot. Where lanes have slots of their own, these fill a cache; but every
/// change of slot costs a lane some of its time (decision 8).
int lanes_of_slot(int n, int n_slots, const Lanes& lanes) {
  constexpr int fewest_places = 8;  // of a slot, for a lane
  return n_slots <= lanes.count ? 1
                                : std::clamp(n / n_slots / fewest_places, 1, lanes.most_of_slot);
}

/// f(step, place) of n places, some lanes after others: in every step the place of each of these.
template <class F>
void for_each_place(int n, int n_lanes, int lanes_together, const F& f) {
  for (int lane = 0; lane < n_lanes; lane += lanes_together) {
    const int last = std::min(lane + lanes_together, n_lanes);
    const int steps = first_place(lane + 1, n, n_lanes) - first_place(lane, n, n_lanes);
    for (int step = 0; step < steps; ++step)
      for (int l = lane; l < last; ++l)
        if (const int place = first_place(l, n, n_lanes) + step;
            place < first_place(l + 1, n, n_lanes))
          f(step, place);
  }
}

}  // namespace

void join_if_few(int fewest_divided, std::vector<int>& border, std::vector<int>& interior) {
  if (border.empty() || std::ssize(border) + std::ssize(interior) >= fewest_divided) return;
  border.insert(border.end(), interior.begin(), interior.end());
  interior.clear();
}

ChunkLayout::ChunkLayout(std::span<const Vec2> shift_px, int chunk_size, int max_slots,
                         int n_batches, const Lanes& lanes)
    : shifts_(shift_px.begin(), shift_px.end()),
      chunk_size_(chunk_size),
      max_slots_(max_slots),
      lanes_(lanes) {
  std::sort(shifts_.begin(), shifts_.end(), before);
  shifts_.erase(std::unique(shifts_.begin(), shifts_.end()), shifts_.end());
  if (chunk_size < 1 || max_slots < std::min(chunk_size, static_cast<int>(shifts_.size())))
    throw std::invalid_argument(text("chunks of ", chunk_size, " positions of ", shifts_.size(),
                                     " shifts with room for ", max_slots, " slots"));
  for (const Vec2& shift : shift_px) {
    const auto found = std::lower_bound(shifts_.begin(), shifts_.end(), shift, before);
    shift_of_.push_back(static_cast<int>(found - shifts_.begin()));
  }
  slot_of_shift_.resize(shifts_.size());
  const std::size_t most_dealt =
      lanes.count == 1 ? 0 : std::min<std::size_t>(chunk_size, shift_px.size());
  places_.reserve(most_dealt);
  sorted_.reserve(most_dealt);
  order_.reserve(shift_px.size());
  slot_.reserve(shift_px.size());
  slot_shift_.reserve(shift_px.size());
  // Every batch may end in a short border and a short interior chunk.
  chunks_.reserve(shift_px.size() / static_cast<std::size_t>(chunk_size) +
                  2 * static_cast<std::size_t>(n_batches));
  clear();
}

void ChunkLayout::clear() {
  chunks_.clear();
  order_.clear();
  slot_.clear();
  slot_shift_.clear();
  std::fill(slot_of_shift_.begin(), slot_of_shift_.end(), -1);
}

ChunkRange ChunkLayout::add_batch(std::span<int> border, std::span<int> interior, bool sampled) {
  const auto by_shift = [&](int a, int b) {
    return std::tie(shift_of_[a], a) < std::tie(shift_of_[b], b);
  };
  std::sort(border.begin(), border.end(), by_shift);
  std::sort(interior.begin(), interior.end(), by_shift);

  ChunkRange range;
  range.border_begin = static_cast<int>(chunks_.size());
  const std::size_t n_members = border.size() + interior.size();
  const std::size_t n_shifts = n_shifts_of_batch(border, interior);
  const bool one_chunk = border.empty() || interior.empty();
  const bool shifted = one_chunk && n_members <= static_cast<std::size_t>(chunk_size_) &&
                       n_members >= static_cast<std::size_t>(lanes_.count) &&
                       n_members < n_shifts * static_cast<std::size_t>(lanes_.shifted_below);
  const bool alone = n_shifts == n_members;
  const bool shared = !alone && n_shifts <= static_cast<std::size_t>(max_slots_);
  if (shared) number_slots_of_batch(border, interior);
  const bool by_position = alone || shifted;
  if (by_position) {
    std::sort(border.begin(), border.end());
    std::sort(interior.begin(), interior.end());
  } else if (shared && n_shifts <= 2 * static_cast<std::size_t>(chunk_size_)) {
    // A chunk that meets most slots in any case is better made of neighbours, whose part of the
    // object stays in a cache, than of positions of the same shift from all over the tile.
    sort_within_chunks(border, by_shift);
    sort_within_chunks(interior, by_shift);
  }
  const int max_shared = alone ? 0 : max_slots_;
  if (!shared) begin_slots();
  append_chunks(border, max_shared, by_position);
  if (!shared) begin_slots();
  range.interior_begin = static_cast<int>(chunks_.size());
  append_chunks(interior, max_shared, by_position);
  range.end = static_cast<int>(chunks_.size());
  complete_groups(range);
  for (int i = range.border_begin; i < range.end; ++i) chunks_[i].sampled = sampled;
  return range;
}

/// What chunks that share their slots know of each other.
void ChunkLayout::complete_groups(const ChunkRange& range) {
  for (int begin = range.border_begin, end = begin; begin < range.end; begin = end) {
    int n_sharing = 0;
    for (; end < range.end && chunks_[end].first_slot == chunks_[begin].first_slot; ++end)
      n_sharing += chunks_[end].count;
    const int last_slot = chunks_[begin].first_slot + chunks_[end - 1].n_slots - 1;
    const bool ends_shift_y =
        end == range.end || slot_shift_[chunks_[end].first_slot].y != slot_shift_[last_slot].y;
    for (int i = begin; i < end; ++i) {
      chunks_[i].n_slots = chunks_[end - 1].n_slots;
      chunks_[i].n_sharing = n_sharing;
      chunks_[i].begins_slots = i == begin;
      chunks_[i].ends_slots = i + 1 == end;
      chunks_[i].ends_shift_y = i + 1 == end && ends_shift_y;
    }
  }
}

template <class Before>
void ChunkLayout::sort_within_chunks(std::span<int> positions, const Before& by_shift) {
  std::sort(positions.begin(), positions.end());
  for (std::size_t begin = 0; begin < positions.size(); begin += chunk_size_) {
    const std::size_t count = std::min<std::size_t>(chunk_size_, positions.size() - begin);
    const std::span<int> chunk = positions.subspan(begin, count);
    std::sort(chunk.begin(), chunk.end(), by_shift);
  }
}

/// f(shift) for every position, ascending. @param border sorted by shift, as interior
template <class F>
void ChunkLayout::for_each_shift(std::span<const int> border, std::span<const int> interior,
                                 const F& f) const {
  for (std::size_t b = 0, i = 0; b < border.size() || i < interior.size();) {
    const bool from_border = i == interior.size() ||
                             (b < border.size() && shift_of_[border[b]] <= shift_of_[interior[i]]);
    f(shift_of_[from_border ? border[b++] : interior[i++]]);
  }
}

std::size_t ChunkLayout::n_shifts_of_batch(std::span<const int> border,
                                           std::span<const int> interior) const {
  std::size_t n_shifts = 0;
  int last = -1;
  for_each_shift(border, interior, [&](int shift) {
    n_shifts += shift != last ? 1 : 0;
    last = shift;
  });
  return n_shifts;
}

/// Slots for all of a batch, in the order of their shifts.
void ChunkLayout::number_slots_of_batch(std::span<const int> border,
                                        std::span<const int> interior) {
  begin_slots();
  for_each_shift(border, interior, [&](int shift) { slot_of(shift); });
}

/// The positions of a slot, or all where each has its own, lead from one end of the tile to the
/// other, and every lane goes through some slots, alone or with a few others: where its run begins
/// it finds the first positions of a slot, though it begins amid the slot's places. So all lanes
/// are at the same part of the tile at a time, and find it in a cache.
void ChunkLayout::keep_lanes_in_step(std::span<int> chunk, bool by_position) {
  const int n = static_cast<int>(chunk.size());
  if (lanes_.count == 1 || n <= lanes_.count) return;
  sorted_.assign(chunk.begin(), chunk.end());
  const auto dealt_together = [&](int p, int q) {
    return by_position || shift_of_[sorted_[p]] == shift_of_[sorted_[q]];
  };
  int n_slots = 1;
  for (int p = 1; p < n; ++p) n_slots += dealt_together(p, p - 1) ? 0 : 1;
  const int together = lanes_of_slot(n, n_slots, lanes_);
  const double steps_of_slot = static_cast<double>(n) / n_slots / together;
  places_.clear();
  for_each_place(n, lanes_.count, together, [&](int step, int place) {
    places_.emplace_back(std::fmod(step / steps_of_slot, 1.0), place);
  });
  for (int begin = 0, end = 0; begin < n; begin = end) {
    for (end = begin + 1; end < n && dealt_together(end, begin);) ++end;
    std::sort(places_.begin() + begin, places_.begin() + end);
    for (int p = begin; p < end; ++p) chunk[places_[p].second] = sorted_[p];
  }
}

void ChunkLayout::append_chunks(std::span<int> positions, int max_shared, bool by_position) {
  for (std::size_t begin = 0; begin < positions.size(); begin += chunk_size_) {
    const std::size_t count = std::min<std::size_t>(chunk_size_, positions.size() - begin);
    const std::span<int> members = positions.subspan(begin, count);
    if (n_slots() + n_new_shifts(members) > max_shared) begin_slots();
    keep_lanes_in_step(members, by_position);
    Chunk chunk;
    chunk.begin = static_cast<int>(order_.size());
    chunk.count = static_cast<int>(count);
    chunk.first_slot = first_slot_;
    for (const int position : members) {
      order_.push_back(position);
      slot_.push_back(slot_of(shift_of_[position]));
    }
    chunk.n_slots = n_slots();
    const auto [least, greatest] = std::minmax_element(slot_.begin() + chunk.begin, slot_.end());
    chunk.seen_begin = *least;
    chunk.seen_end = *greatest + 1;
    chunks_.push_back(chunk);
  }
}

/// @param positions of the same shift follow one another, or may be counted again
int ChunkLayout::n_new_shifts(std::span<const int> positions) const {
  int n = 0;
  int last = -1;
  for (const int position : positions) {
    const int shift = shift_of_[position];
    n += shift != last && slot_of_shift_[shift] < first_slot_ ? 1 : 0;
    last = shift;
  }
  return n;
}

void ChunkLayout::begin_slots() {
  first_slot_ = static_cast<int>(slot_shift_.size());
}

int ChunkLayout::slot_of(int shift) {
  if (slot_of_shift_[shift] < first_slot_) {
    slot_of_shift_[shift] = static_cast<int>(slot_shift_.size());
    slot_shift_.push_back(shifts_[shift]);
  }
  return slot_of_shift_[shift] - first_slot_;
}

}  // namespace tessera::decomposition
