#pragma once
/// Which pixels travel between which ranks in a batch: of the ghosts those that its windows reach.
/// Every rank knows all windows, so both sides of a message know what it holds without a word.

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/base/box.hpp"
#include "tessera/decomposition/halo_plan.hpp"
#include "tessera/decomposition/window_union.hpp"

namespace tessera::decomposition {

/// A rectangle of a message.
struct Piece {
  Box box;              ///< in pixels of the ghosted box
  int first_row = 0;    ///< rows of the message before it
  int first_pixel = 0;  ///< pixels of the message before it
};

/// The pieces of a message: where they lie among those of all messages.
struct MessagePieces {
  int begin = 0;
  int count = 0;
  int n_rows = 0;
  int n_pixels = 0;
};

/// What goes to and comes from one peer.
struct PeerMessages {
  struct Exchange {
    MessagePieces send;
    MessagePieces receive;
  };
  Exchange to_owners;  ///< sums
  Exchange to_ghosts;  ///< new values
};

/// The messages with each peer of the plan, in its order.
struct HaloMessages {
  std::vector<Piece> pieces;
  std::vector<PeerMessages> peers;
};

/// All ghosts.
HaloMessages whole_halo(const HaloPlan& plan);

/// Windows that may reach a tile, those of all ranks.
struct ScanWindows {
  Shape2 window;
  std::span<const Pixel> corner;  ///< object pixels
  std::span<const int> tile_of;   ///< of each of them: the rank that has it
};

/// The messages of batches. A sum travels to its owner from where a window of the sender's own
/// positions reaches, a new value to a ghost where any window does: exactly these pixels, each
/// once. Pure.
class BatchHalo {
 public:
  /// @param n_batches batches between two calls of `clear`, at most; no window is in two of them
  BatchHalo(const HaloPlan& plan, const ScanWindows& windows, int n_batches);

  /// Makes the room for `pieces` as large as this, unless it is full already.
  void reserve(std::size_t n_pieces);
  /// Of its own lists, host memory.
  std::int64_t bytes() const;

  void clear();
  /// The next batch.
  /// @param windows their numbers
  void add_batch(std::span<const int> windows);
  /// Of all batches since `clear`.
  std::span<const Piece> pieces() const { return pieces_; }
  /// The messages of the i-th batch since `clear` with each peer of the plan. Valid as long as this
  /// object.
  std::span<const PeerMessages> batch(int i) const;

 private:
  Box window_of(int number) const { return Box::at(corner_[number], window_); }
  std::span<const int> in_rows(int first, int last) const;
  std::span<const int> of_tile(int tile) const;
  std::span<const int> reaching(const Box& box) const;
  MessagePieces add_message(std::span<const int> windows, const Box& box);

  HaloPlan plan_;
  Shape2 window_;
  std::vector<Pixel> corner_;
  std::vector<int> tile_of_;
  std::vector<Piece> pieces_;
  std::vector<PeerMessages> messages_;  ///< of each batch with each peer
  std::vector<int> by_row_;      ///< those of the batch that reach the tile, by their first row
  std::vector<int> by_tile_;     ///< the same, by the tile of their positions
  std::vector<Box> reached_;     ///< their windows, cut to what a message may hold
  std::vector<Box> rectangles_;  ///< of a message
  WindowUnion union_;
};

}  // namespace tessera::decomposition
