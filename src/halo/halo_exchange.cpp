#include "tessera/halo/halo_exchange.hpp"

#include <algorithm>
#include <stdexcept>

namespace tessera::halo {
namespace {

using device::Device;
using device::DeviceView;

/// Apply `move(tile value, buffer value)` to every Real of `box` of one field; the buffer is
/// (plane, y, x, component).
template <class Move>
void for_each_real(const Device& exec, const char* label, const TileField& field,
                   const Box& ghosted, const Box& box, Real* buffer, const Move& move) {
  const int first_y = box.begin.y - ghosted.begin.y;
  const int first_x = (box.begin.x - ghosted.begin.x) * field.n_components;
  const std::int64_t pitch = static_cast<std::int64_t>(ghosted.width()) * field.n_components;
  const std::int64_t plane = pitch * ghosted.height();
  const Shape2 rows{box.height(), box.width() * field.n_components};
  Real* tile = field.data + first_y * pitch + first_x;
  device::for_each_pixel(
      exec, label, field.n_planes, rows, KOKKOS_LAMBDA(const int i, const int y, const int x) {
        move(tile[i * plane + y * pitch + x],
             buffer[(static_cast<std::int64_t>(i) * rows.h + y) * rows.w + x]);
      });
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

/// All fields of one peer, one after another in its buffer. Returns the number of Reals.
template <class Move>
std::int64_t move_fields(const Device& exec, const char* label, std::span<const TileField> fields,
                         const Box& ghosted, const Box& box, Real* buffer, const Move& move) {
  std::int64_t n = 0;
  if (box.empty()) return n;
  for (const TileField& field : fields) {
    for_each_real(exec, label, field, ghosted, box, buffer + n, move);
    n += box.area() * field.n_planes * field.n_components;
  }
  return n;
}

int reals_per_pixel(std::span<const TileField> fields) {
  int n = 0;
  for (const TileField& field : fields) n += field.n_planes * field.n_components;
  return n;
}

}  // namespace

HaloExchange::HaloExchange(decomposition::HaloPlan plan, int max_reals_per_pixel,
                           Transport& transport)
    : plan_(std::move(plan)), transport_(transport), max_reals_per_pixel_(max_reals_per_pixel) {
  for (const decomposition::PeerBoxes& p : plan_.peers) {
    const std::int64_t max = std::max(p.owned_here.area(), p.ghost_here.area());
    const auto size = static_cast<std::size_t>(max * max_reals_per_pixel);
    send_.emplace_back("tessera::comm::send", size);
    receive_.emplace_back("tessera::comm::receive", size);
  }
  messages_.resize(plan_.peers.size());
}

std::int64_t HaloExchange::bytes(const decomposition::HaloPlan& plan, int max_reals_per_pixel) {
  std::int64_t pixels = 0;
  for (const decomposition::PeerBoxes& p : plan.peers)
    pixels += 2 * std::max(p.owned_here.area(), p.ghost_here.area());
  return pixels * max_reals_per_pixel * static_cast<std::int64_t>(sizeof(Real));
}

void HaloExchange::begin(const Device& exec, std::span<const TileField> fields,
                         Direction direction) {
  if (fields.size() > max_fields || reals_per_pixel(fields) > max_reals_per_pixel_)
    throw std::logic_error("halo exchange: more fields than the exchange was made for");
  if (plan_.peers.empty()) return;
  const Kokkos::Timer timer;
  std::copy(fields.begin(), fields.end(), fields_.begin());
  n_fields_ = static_cast<int>(fields.size());
  const bool to_ghosts = direction == Direction::owner_to_ghost;
  for (std::size_t i = 0; i < plan_.peers.size(); ++i) {
    const decomposition::PeerBoxes& p = plan_.peers[i];
    const Box& out = to_ghosts ? p.owned_here : p.ghost_here;
    const Box& in = to_ghosts ? p.ghost_here : p.owned_here;
    const std::int64_t n = move_fields(exec, "tessera::comm::pack", fields, plan_.ghosted, out,
                                       send_[i].data(), Pack{});
    messages_[i] = {p.peer, send_[i].data(), n, receive_[i].data(),
                    in.area() * reals_per_pixel(fields)};
    statistics_.bytes_sent += n * static_cast<std::int64_t>(sizeof(Real));
    statistics_.messages_sent += n > 0 ? 1 : 0;
  }
  transport_.begin(exec, messages_, to_ghosts ? 1 : 2);
  statistics_.seconds += timer.seconds();
}

void HaloExchange::fill(const Device& exec, std::span<const TileField> fields) {
  const device::Region region("fill");
  begin(exec, fields, Direction::owner_to_ghost);
  if (plan_.peers.empty()) return;
  const Kokkos::Timer timer;
  transport_.finish(exec);
  for (std::size_t i = 0; i < plan_.peers.size(); ++i)
    move_fields(exec, "tessera::comm::unpack", fields, plan_.ghosted, plan_.peers[i].ghost_here,
                receive_[i].data(), Unpack{});
  statistics_.seconds += timer.seconds();
}

HaloExchange::Accumulation HaloExchange::begin_accumulate(const Device& exec,
                                                          std::span<const TileField> fields) {
  const device::Region region("begin accumulate");
  n_fields_ = 0;
  if (!fields.empty()) begin(exec, fields, Direction::ghost_to_owner);
  return Accumulation(*this);
}

void HaloExchange::finish_accumulate(const Device& exec) {
  const device::Region region("finish accumulate");
  if (plan_.peers.empty() || n_fields_ == 0) return;
  const Kokkos::Timer timer;
  transport_.finish(exec);
  const std::span<const TileField> fields(fields_.data(), static_cast<std::size_t>(n_fields_));
  // Ascending peer order, not arrival order: the sum is bit-identical between runs.
  for (std::size_t i = 0; i < plan_.peers.size(); ++i)
    move_fields(exec, "tessera::comm::add", fields, plan_.ghosted, plan_.peers[i].owned_here,
                receive_[i].data(), Add{});
  statistics_.seconds += timer.seconds();
}

}  // namespace tessera::halo
