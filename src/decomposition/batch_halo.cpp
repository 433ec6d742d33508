#include "tessera/decomposition/batch_halo.hpp"

#include <algorithm>
#include <array>

namespace tessera::decomposition {
namespace {

/// Rectangles of the object become the next message.
MessagePieces append(std::span<const Box> rectangles, Pixel origin, std::vector<Piece>& pieces) {
  MessagePieces message{.begin = static_cast<int>(pieces.size())};
  for (const Box& rectangle : rectangles) {
    pieces.push_back({moved(rectangle, Pixel{} - origin), message.n_rows, message.n_pixels});
    message.n_rows += rectangle.height();
    message.n_pixels += static_cast<int>(rectangle.area());
    ++message.count;
  }
  return message;
}

/// What a message may hold: pixels of `box` that windows of one tile's positions reach, or any.
struct Reached {
  Box box;
  int tile;
  static constexpr int any = -1;
};

/// Of the messages with one peer: sums sent and received, values sent and received.
std::array<Reached, 4> messages_with(const PeerBoxes& boxes, int rank) {
  return {Reached{boxes.ghost_here, rank}, Reached{boxes.owned_here, boxes.peer},
          Reached{boxes.owned_here, Reached::any}, Reached{boxes.ghost_here, Reached::any}};
}

/// What a window reaches of a message; empty: nothing.
Box part_of(const Reached& message, const Box& window, int tile) {
  if (message.tile != Reached::any && message.tile != tile) return {};
  return intersection(window, message.box);
}

}  // namespace

HaloMessages whole_halo(const HaloPlan& plan) {
  HaloMessages whole;
  const auto message = [&](const Box& box) {
    return append(std::span(&box, box.empty() ? 0 : 1), plan.ghosted.begin, whole.pieces);
  };
  for (const PeerBoxes& boxes : plan.peers) {
    const MessagePieces owned = message(boxes.owned_here);
    const MessagePieces ghost = message(boxes.ghost_here);
    whole.peers.push_back({.to_owners = {ghost, owned}, .to_ghosts = {owned, ghost}});
  }
  return whole;
}

BatchHalo::BatchHalo(const HaloPlan& plan, const ScanWindows& windows, int n_batches)
    : plan_(plan), window_(windows.window), union_(plan.peers.empty() ? 0 : windows.corner.size()) {
  if (plan.peers.empty()) return;
  corner_.assign(windows.corner.begin(), windows.corner.end());
  tile_of_.assign(windows.tile_of.begin(), windows.tile_of.end());
  messages_.reserve(static_cast<std::size_t>(n_batches) * plan.peers.size());
  near_.reserve(corner_.size());
  reached_.reserve(corner_.size());
  std::int64_t max = 0;
  for (const PeerBoxes& boxes : plan.peers)
    for (const Box& box : {boxes.owned_here, boxes.ghost_here})
      max = std::max(max, WindowUnion::max_rectangles(window_, box, std::ssize(corner_)));
  rectangles_.reserve(static_cast<std::size_t>(max));
}

void BatchHalo::reserve(std::size_t n_pieces) {
  pieces_.shrink_to_fit();
  pieces_.reserve(n_pieces);
}

std::int64_t BatchHalo::bytes() const {
  const std::size_t of_window = sizeof(Pixel) + 2 * sizeof(int) + sizeof(Box);
  return static_cast<std::int64_t>(corner_.size() * of_window + pieces_.capacity() * sizeof(Piece) +
                                   messages_.capacity() * sizeof(PeerMessages) +
                                   rectangles_.capacity() * sizeof(Box)) +
         union_.bytes();
}

void BatchHalo::clear() {
  pieces_.clear();
  messages_.clear();
}

void BatchHalo::add_batch(std::span<const int> windows) {
  if (plan_.peers.empty()) return;
  near_.clear();
  for (const int number : windows)
    if (!intersection(window_of(number), plan_.ghosted).empty()) near_.push_back(number);
  for (const PeerBoxes& boxes : plan_.peers) {
    std::array<MessagePieces, 4> made;
    const auto messages = messages_with(boxes, plan_.rank);
    for (std::size_t m = 0; m < messages.size(); ++m) {
      reached_.clear();
      for (const int number : near_) {
        const Box part = part_of(messages[m], window_of(number), tile_of_[number]);
        if (!part.empty()) reached_.push_back(part);
      }
      rectangles_.clear();
      union_.append(reached_, messages[m].box, rectangles_);
      made[m] = append(rectangles_, plan_.ghosted.begin, pieces_);
    }
    messages_.push_back({.to_owners = {made[0], made[1]}, .to_ghosts = {made[2], made[3]}});
  }
}

std::span<const PeerMessages> BatchHalo::batch(int i) const {
  const std::size_t n_peers = plan_.peers.size();
  return std::span(messages_).subspan(static_cast<std::size_t>(i) * n_peers, n_peers);
}

}  // namespace tessera::decomposition
