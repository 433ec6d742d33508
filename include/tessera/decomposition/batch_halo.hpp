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

/// The windows of a scan, those of all ranks.
struct ScanWindows {
  Shape2 window;
  std::span<const Pixel> corner;  ///< of every scan position, object pixels
  std::span<const int> tile_of;   ///< each of them: the rank that has it
};

/// The messages of batches. A sum travels to its owner from where a window of the sender's own
/// positions reaches, a new value to a ghost where any window does: exactly these pixels, each
/// once. Pure; room for the worst case is reserved once.
class BatchHalo {
 public:
  /// @param n_batches batches between two calls of `clear`, at most; no position is in two of them
  /// @param batch_size positions in one of them, at most
  BatchHalo(const HaloPlan& plan, const ScanWindows& windows, int n_batches, int batch_size);

  /// Most pieces that `pieces` of such a one will ever hold.
  static std::int64_t capacity(const HaloPlan& plan, const ScanWindows& windows, int n_batches);
  /// Of its own lists, host memory.
  static std::int64_t bytes(const HaloPlan& plan, const ScanWindows& windows, int n_batches);

  void clear();
  /// The next batch. Allocates nothing.
  void add_batch(std::span<const int> positions);
  /// Of all batches since `clear`.
  std::span<const Piece> pieces() const { return pieces_; }
  /// Most that `pieces` will ever hold.
  std::size_t capacity() const { return pieces_.capacity(); }
  /// The messages of the i-th batch since `clear` with each peer of the plan. Valid as long as this
  /// object.
  std::span<const PeerMessages> batch(int i) const;

 private:
  static std::int64_t max_near(const HaloPlan& plan, const ScanWindows& windows, int batch_size);
  Box window_of(int position) const { return Box::at(corner_[position], window_); }

  HaloPlan plan_;
  Shape2 window_;
  std::vector<Pixel> corner_;
  std::vector<int> tile_of_;
  std::vector<Piece> pieces_;
  std::vector<PeerMessages> messages_;  ///< of each batch with each peer
  std::vector<int> near_;               ///< positions of the batch whose windows reach the tile
  std::vector<Box> reached_;            ///< their windows, cut to what a message may hold
  std::vector<Box> rectangles_;         ///< of a message
  WindowUnion union_;
};

}  // namespace tessera::decomposition
