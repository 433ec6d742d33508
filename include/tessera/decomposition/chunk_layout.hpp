#pragma once
/// In which order a rank computes its positions of a batch, in which pieces, and which shifted
/// probes they see.

#include <span>
#include <utility>
#include <vector>

#include "tessera/base/box.hpp"

namespace tessera::decomposition {

/// Positions order(begin) ... order(begin + count - 1), computed together. They see the probe in
/// `n_slots` shifts, the *slots*: slot s is the probe moved by slot_shift(first_slot + s). Several
/// chunks of a batch may share their slots; then they have the same first_slot and n_slots.
struct Chunk {
  int begin = 0;
  int count = 0;
  int first_slot = 0;
  int n_slots = 1;
  int seen_begin = 0;  ///< this chunk's own positions see slots seen_begin ... seen_end - 1
  int seen_end = 1;
  int n_sharing = 0;         ///< positions of the batch that see these slots, one after another
  bool begins_slots = true;  ///< no earlier chunk of the batch shares them
  bool ends_slots = true;    ///< no later one
  /// Nor do the slots of those that follow these in the batch begin with the shift along y that
  /// these end with.
  bool ends_shift_y = true;
  bool sampled = true;  ///< its positions are among those that stand for all of the batch
};

/// A batch's chunks, numbers in ChunkLayout::chunks().
struct ChunkRange {
  int border_begin = 0;
  int interior_begin = 0;
  int end = 0;
};

/// Makes all of a rank's part of a batch border if it is less than `fewest_divided` positions: they
/// hide no exchange, and are faster in one chunk.
void join_if_few(int fewest_divided, std::vector<int>& border, std::vector<int>& interior);

/// What computes a chunk side by side, if it has more positions than that.
struct Lanes {
  /// Of equal runs of neighbouring places: the first of each, then the second, and so on.
  int count = 1;
  int most_of_slot = 1;  ///< that take the places of one slot together
  /// A batch that is one chunk, fills the lanes, and has fewer positions for every shift, makes no
  /// slots: its positions are laid out as if none shared a shift.
  int shifted_below = 0;
};

/// Within a batch, positions of the same sub-pixel shift share a slot, and those of a slot follow
/// one another in a lane, so that a sum over them needs no atomics. Pure; room for the worst case
/// is reserved once.
class ChunkLayout {
 public:
  /// @param shift_px sub-pixel part of each of the rank's positions (y, x)
  /// @param max_slots most slots at a time, no fewer than a chunk can have. Of a batch with more as
  /// many chunks that follow one another share them as fit.
  /// @param n_batches batches between two calls of `clear`, at most
  /// @throws std::invalid_argument if a chunk can have more slots, or chunk_size < 1
  ChunkLayout(std::span<const Vec2> shift_px, int chunk_size, int max_slots, int n_batches,
              const Lanes& lanes = {});

  void clear();
  /// This rank's positions (local numbers) of the next batch, or of a part of it that shares no
  /// slots with others. Sorts both. Allocates nothing.
  ChunkRange add_batch(std::span<int> border, std::span<int> interior, bool sampled = true);

  std::span<const Chunk> chunks() const { return chunks_; }
  /// Local number of every ordered position.
  std::span<const int> order() const { return order_; }
  /// Slot of every ordered position, counted from its chunk's first_slot; ascends within a chunk
  /// of one lane.
  std::span<const int> slot() const { return slot_; }
  /// Shift of every slot, pixels (y, x).
  std::span<const Vec2> slot_shift() const { return slot_shift_; }

 private:
  template <class Before>
  void sort_within_chunks(std::span<int> positions, const Before& by_shift);
  /// Of the chunks in work that share them.
  int n_slots() const { return static_cast<int>(slot_shift_.size()) - first_slot_; }
  template <class F>
  void for_each_shift(std::span<const int> border, std::span<const int> interior, const F& f) const;
  std::size_t n_shifts_of_batch(std::span<const int> border, std::span<const int> interior) const;
  void number_slots_of_batch(std::span<const int> border, std::span<const int> interior);
  /// @param chunk sorted by shift, and by position where shifts are the same; or `by_position`,
  /// where shifts do not matter
  void keep_lanes_in_step(std::span<int> chunk, bool by_position);
  /// @param max_shared most slots that chunks share; 0: each chunk has its own
  void append_chunks(std::span<int> positions, int max_shared, bool by_position);
  int n_new_shifts(std::span<const int> positions) const;
  void complete_groups(const ChunkRange& range);
  void begin_slots();
  int slot_of(int shift);

  std::vector<Vec2> shifts_;   ///< distinct ones, sorted
  std::vector<int> shift_of_;  ///< of each position, in shifts_
  int chunk_size_;
  int max_slots_;
  Lanes lanes_;
  std::vector<std::pair<double, int>> places_;  ///< of a chunk, and when they are computed
  std::vector<int> sorted_;                     ///< its positions, before lanes are dealt
  std::vector<Chunk> chunks_;
  std::vector<int> order_;
  std::vector<int> slot_;
  std::vector<Vec2> slot_shift_;
  int first_slot_ = 0;
  std::vector<int> slot_of_shift_;  ///< row of slot_shift_; below first_slot_: none yet
};

}  // namespace tessera::decomposition
