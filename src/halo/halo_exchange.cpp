#include "tessera/halo/halo_exchange.hpp"

#include <algorithm>
#include <stdexcept>

namespace tessera::halo {
namespace {

using decomposition::MessagePieces;
using decomposition::PeerMessages;
using decomposition::Piece;
using device::Device;
using device::DeviceView;

/// What one message takes from fields: a field follows a field, in it a plane a plane, in that a
/// piece a piece, in that a row a row.
struct MessageParts {
  TileFields on_tile;
  MessagePieces message;
  Real* buffer;

  /// f(tile values, buffer values, how many) for every field and plane of the row, or part of a
  /// row, that begins at a pixel of the message.
  template <class F>
  KOKKOS_FUNCTION void for_each_stretch(const Piece& piece, int in_piece, int n, const F& f) const {
    const int width = piece.box.end.x - piece.box.begin.x;
    const int y = in_piece / width;
    const Shape2 tile = on_tile.tile;
    const std::int64_t in_tile = static_cast<std::int64_t>(piece.box.begin.y + y) * tile.w +
                                 piece.box.begin.x + (in_piece - y * width);
    const std::int64_t n_tile = static_cast<std::int64_t>(tile.h) * tile.w;
    Real* of_plane = buffer;
    for (int i = 0; i < on_tile.n; ++i) {
      const TileField& field = on_tile.fields[i];
      const int m = field.n_components;
      for (int plane = 0; plane < field.n_planes; ++plane) {
        f(field.data + (plane * n_tile + in_tile) * m,
          of_plane + static_cast<std::int64_t>(piece.first_pixel + in_piece) * m, n * m);
        of_plane += static_cast<std::int64_t>(message.n_pixels) * m;
      }
    }
  }
  /// The last of the message's pieces whose `first` is no larger.
  KOKKOS_FUNCTION const Piece& last_at(int Piece::* first, int value) const {
    int begin = message.begin;
    int end = message.begin + message.count;
    while (end - begin > 1) {
      const int middle = begin + (end - begin) / 2;
      (on_tile.pieces[middle].*first <= value ? begin : end) = middle;
    }
    return on_tile.pieces[begin];
  }
};

/// move(tile value, buffer value) for every Real: a host takes row after row, a device pixel by
/// pixel.
template <class Move>
void for_each_real(const Device& exec, const char* label, const MessageParts& parts,
                   const Move& move) {
  if constexpr (device::device_is_host) {
    Kokkos::parallel_for(
        device::kernel_name(label), Kokkos::RangePolicy<Device>(exec, 0, parts.message.n_rows),
        KOKKOS_LAMBDA(const int i) {
          const Piece& piece = parts.last_at(&Piece::first_row, i);
          const int width = piece.box.end.x - piece.box.begin.x;
          parts.for_each_stretch(piece, (i - piece.first_row) * width, width,
                                 [&](Real* tile, Real* buffer, int n) {
                                   TESSERA_INDEPENDENT_ITERATIONS
                                   for (int x = 0; x < n; ++x) move(tile[x], buffer[x]);
                                 });
        });
  } else {
    Kokkos::parallel_for(
        device::kernel_name(label), Kokkos::RangePolicy<Device>(exec, 0, parts.message.n_pixels),
        KOKKOS_LAMBDA(const int i) {
          const Piece& piece = parts.last_at(&Piece::first_pixel, i);
          parts.for_each_stretch(piece, i - piece.first_pixel, 1,
                                 [&](Real* tile, Real* buffer, int n) {
                                   for (int c = 0; c < n; ++c) move(tile[c], buffer[c]);
                                 });
        });
  }
}

struct Pack {
  KOKKOS_FUNCTION void operator()(Real& tile, Real& buffer) const { buffer = tile; }
};
struct Unpack {
  KOKKOS_FUNCTION void operator()(Real& tile, Real& buffer) const { tile = buffer; }
};
struct Add {
  KOKKOS_FUNCTION void operator()(Real& tile, Real& buffer) const { tile += buffer; }
};

template <class Move>
void move_fields(const Device& exec, const char* label, const TileFields& fields,
                 const MessagePieces& message, Real* buffer, const Move& move) {
  if (message.n_pixels > 0) for_each_real(exec, label, MessageParts{fields, message, buffer}, move);
}

}  // namespace

HaloExchange::HaloExchange(decomposition::HaloPlan plan, int max_reals_per_pixel,
                           Transport& transport)
    : plan_(std::move(plan)),
      transport_(transport),
      whole_(decomposition::whole_halo(plan_)),
      whole_pieces_(device::to_device<DeviceView<Piece*>>(
          "tessera::comm::pieces", whole_.pieces.data(),
          DeviceView<Piece*>::array_layout(whole_.pieces.size()))),
      max_reals_per_pixel_(max_reals_per_pixel) {
  for (const decomposition::PeerBoxes& p : plan_.peers) {
    const std::int64_t max =
        std::max(p.owned_here.area(), p.ghost_here.area()) * max_reals_per_pixel;
    messages_.push_back({.peer = p.peer, .n_send = max, .n_receive = max});
    if (!transport_.needs_buffers()) continue;
    messages_.back().send =
        send_.emplace_back("tessera::comm::send", static_cast<std::size_t>(max)).data();
    messages_.back().receive =
        receive_.emplace_back("tessera::comm::receive", static_cast<std::size_t>(max)).data();
  }
  pixel_messages_.resize(messages_.size());
  if (transport_.needs_buffers()) transport_.reserve(messages_);
}

std::int64_t HaloExchange::bytes(const decomposition::HaloPlan& plan, int max_reals_per_pixel) {
  std::int64_t pixels = 0;
  for (const decomposition::PeerBoxes& p : plan.peers)
    pixels += 2 * std::max(p.owned_here.area(), p.ghost_here.area());
  return pixels * max_reals_per_pixel * static_cast<std::int64_t>(sizeof(Real)) +
         2 * std::ssize(plan.peers) * static_cast<std::int64_t>(sizeof(Piece));
}

void HaloExchange::begin(const Device& exec, std::span<const TileField> fields,
                         const CarriedPixels& carried, Exchange PeerMessages::* exchange) {
  under_way_.n = 0;
  TileFields here{{}, static_cast<int>(fields.size()), plan_.ghosted.shape(), carried.pieces};
  if (fields.size() <= max_fields) std::ranges::copy(fields, here.fields.data());
  if (fields.size() > max_fields || here.reals_per_pixel() > max_reals_per_pixel_)
    throw std::logic_error("halo exchange: more fields than the exchange was made for");
  const bool is_reached = std::ranges::any_of(carried.peers, [&](const PeerMessages& peer) {
    return (peer.*exchange).send.n_pixels + (peer.*exchange).receive.n_pixels > 0;
  });
  if (!is_reached) return;
  const Kokkos::Timer timer;
  under_way_ = here;
  const std::int64_t n_reals = here.reals_per_pixel();
  for (std::size_t i = 0; i < carried.peers.size(); ++i) {
    const auto& [send, receive] = carried.peers[i].*exchange;
    pixel_messages_[i] = {messages_[i].peer, send, receive};
    messages_[i].n_send = send.n_pixels * n_reals;
    messages_[i].n_receive = receive.n_pixels * n_reals;
    statistics_.bytes_sent += messages_[i].n_send * static_cast<std::int64_t>(sizeof(Real));
    statistics_.messages_sent += messages_[i].n_send > 0 ? 1 : 0;
  }
  const bool to_ghosts = exchange == &PeerMessages::to_ghosts;
  for (std::size_t i = 0; i < send_.size(); ++i)
    move_fields(exec, "tessera::comm::pack", here, pixel_messages_[i].send, send_[i].data(),
                Pack{});
  if (transport_.needs_buffers())
    transport_.begin(exec, messages_, to_ghosts ? 1 : 2);
  else
    transport_.begin_in_place(here, pixel_messages_, to_ghosts ? Arrival::replaces : Arrival::adds);
  statistics_.seconds += timer.seconds();
}

template <class Move>
void HaloExchange::finish(const Device& exec, const char* label, const Move& move) {
  if (under_way_.n == 0) return;
  const Kokkos::Timer timer;
  transport_.finish(exec);
  // Ascending peer order, not arrival order: the sum is bit-identical between runs.
  for (std::size_t i = 0; i < receive_.size(); ++i)
    move_fields(exec, label, under_way_, pixel_messages_[i].receive, receive_[i].data(), move);
  statistics_.seconds += timer.seconds();
}

void HaloExchange::fill(const Device& exec, std::span<const TileField> fields,
                        const CarriedPixels& carried) {
  const device::Region region("fill");
  begin(exec, fields, carried, &PeerMessages::to_ghosts);
  finish(exec, "tessera::comm::unpack", Unpack{});
}

HaloExchange::Accumulation HaloExchange::begin_accumulate(const Device& exec,
                                                          std::span<const TileField> fields,
                                                          const CarriedPixels& carried) {
  const device::Region region("begin accumulate");
  begin(exec, fields, carried, &PeerMessages::to_owners);
  return Accumulation(*this);
}

void HaloExchange::progress() {
  if (under_way_.n == 0) return;
  const Kokkos::Timer timer;
  transport_.progress();
  statistics_.seconds += timer.seconds();
}

void HaloExchange::finish_accumulate(const Device& exec) {
  const device::Region region("finish accumulate");
  finish(exec, "tessera::comm::add", Add{});
}

}  // namespace tessera::halo
