#pragma once
/// What the batches of an epoch reach of a rank's tile, whichever rank computes them: its own
/// positions in them, the blocks that they touch, the messages that they need. All of it comes from
/// the windows that are near; of the other positions of the scan nothing is kept.

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/base/box.hpp"
#include "tessera/decomposition/batch_halo.hpp"
#include "tessera/decomposition/batch_schedule.hpp"
#include "tessera/decomposition/touched_blocks.hpp"

namespace tessera::decomposition {

/// The windows that reach a rank's ghosted box.
struct NearWindows {
  Shape2 window;
  std::vector<int> positions;  ///< scan positions, ascending
  std::vector<Pixel> corner;   ///< of each of them, object pixels
  std::vector<int> tile_of;    ///< the rank that has it
};

/// The numbers of positions in an ascending list, from a bit for every position of the scan.
class PositionNumbers {
 public:
  explicit PositionNumbers(std::span<const int> positions);
  /// -1: not in the list
  int operator[](int position) const;

 private:
  std::vector<std::uint64_t> bits_;
  std::vector<int> n_before_;  ///< positions before each word of bits
};

/// Lists are as long as the batches need. Where they are dealt out anew in every epoch there is
/// room for an eighth more than in the first: what they reach hardly differs.
class BatchReach {
 public:
  BatchReach(const HaloPlan& plan, const NearWindows& windows, const BatchSchedule& schedule);
  /// The same from a table: for who asks for many ranks.
  /// @param batch_of by scan position; -1: in none
  BatchReach(const HaloPlan& plan, const NearWindows& windows, std::span<const int> batch_of,
             int n_batches, bool fixed_members);

  /// The batches of the schedule's present epoch. Allocates nothing while the room lasts.
  void lay_out(const BatchSchedule& schedule);

  /// Near windows (their numbers in the list) of a batch, ascending.
  std::span<const int> members(int batch) const;
  std::span<const int> blocks() const { return blocks_.blocks(); }
  /// Where a batch's blocks begin in `blocks`; of the number of batches: their end.
  int first_block(int batch) const { return first_block_[static_cast<std::size_t>(batch)]; }
  std::span<const Piece> pieces() const { return halo_.pieces(); }
  std::span<const PeerMessages> messages(int batch) const { return halo_.batch(batch); }

  /// Room for blocks and for pieces.
  std::size_t block_room() const { return block_room_; }
  std::size_t piece_room() const { return piece_room_; }
  /// Of its own lists, host memory.
  std::int64_t host_bytes() const;

 private:
  BatchReach(const HaloPlan& plan, const NearWindows& windows, int n_batches);
  void lay_out_numbers();
  void keep_room(bool fixed_members);

  PositionNumbers numbers_;
  int n_batches_;
  std::vector<int> batch_of_;  ///< of each near window; -1: in none
  std::vector<int> begin_;     ///< of each batch in members_, and the end
  std::vector<int> members_;
  std::vector<int> first_block_;
  TouchedBlocks blocks_;
  BatchHalo halo_;
  std::size_t block_room_ = 0;
  std::size_t piece_room_ = 0;
};

}  // namespace tessera::decomposition
