#include "tessera/decomposition/batch_halo.hpp"

#include <algorithm>

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
  by_row_.reserve(corner_.size());
  by_tile_.reserve(corner_.size());
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
  const std::size_t of_window = sizeof(Pixel) + 3 * sizeof(int) + sizeof(Box);
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
  by_row_.clear();
  for (const int number : windows)
    if (!intersection(window_of(number), plan_.ghosted).empty()) by_row_.push_back(number);
  by_tile_.assign(by_row_.begin(), by_row_.end());
  std::ranges::sort(by_row_, {}, [&](int number) { return corner_[number].y; });
  std::ranges::sort(by_tile_, {}, [&](int number) { return tile_of_[number]; });
  for (const PeerBoxes& boxes : plan_.peers) {
    const auto& [peer, owned, ghost] = boxes;
    const MessagePieces sums_sent = add_message(of_tile(plan_.rank), ghost);
    const MessagePieces sums_received = add_message(of_tile(peer), owned);
    const MessagePieces values_sent = add_message(reaching(owned), owned);
    const MessagePieces values_received = add_message(reaching(ghost), ghost);
    messages_.push_back(
        {.to_owners = {sums_sent, sums_received}, .to_ghosts = {values_sent, values_received}});
  }
}

/// Those of the batch whose corners are in rows [first, last].
std::span<const int> BatchHalo::in_rows(int first, int last) const {
  if (last < first) return {};
  const auto row = [&](int number) { return corner_[number].y; };
  const auto begin = std::ranges::lower_bound(by_row_, first, {}, row);
  return {begin, std::ranges::upper_bound(begin, by_row_.end(), last, {}, row)};
}

/// Those of a tile's positions.
std::span<const int> BatchHalo::of_tile(int tile) const {
  const auto found =
      std::ranges::equal_range(by_tile_, tile, {}, [&](int number) { return tile_of_[number]; });
  return {found.begin(), found.end()};
}

/// Those that may reach a box; one alone that holds all of it, as windows larger than tiles mostly
/// do.
std::span<const int> BatchHalo::reaching(const Box& box) const {
  for (const int& number : in_rows(box.end.y - window_.h, box.begin.y))
    if (window_of(number).contains(box)) return {&number, 1};
  return in_rows(box.begin.y - window_.h + 1, box.end.y - 1);
}

/// The pixels of the box that windows reach.
MessagePieces BatchHalo::add_message(std::span<const int> windows, const Box& box) {
  reached_.clear();
  for (const int number : windows)
    if (const Box part = intersection(window_of(number), box); !part.empty())
      reached_.push_back(part);
  rectangles_.clear();
  union_.append(reached_, box, rectangles_);
  return append(rectangles_, plan_.ghosted.begin, pieces_);
}

std::span<const PeerMessages> BatchHalo::batch(int i) const {
  const std::size_t n_peers = plan_.peers.size();
  return std::span(messages_).subspan(static_cast<std::size_t>(i) * n_peers, n_peers);
}

}  // namespace tessera::decomposition
