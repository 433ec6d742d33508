#pragma once
/// How bytes travel between ranks. The halo exchange and the solvers know only this.

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/comm/communicator.hpp"
#include "tessera/device/device.hpp"
#include "tessera/halo/tile_fields.hpp"

namespace tessera::halo {

/// What goes to and comes from one peer; device memory, counted in Reals; either may be empty.
struct Message {
  int peer = 0;
  const Real* send = nullptr;
  std::int64_t n_send = 0;
  Real* receive = nullptr;
  std::int64_t n_receive = 0;
};

/// The same of a tile's pixels, where they lie; on both sides as many.
struct PixelMessage {
  int peer = 0;
  decomposition::MessagePieces send;
  decomposition::MessagePieces receive;
};

/// What becomes of pixels that arrive.
enum class Arrival { replaces, adds };

/// All calls are ordered with the work of `exec`: they take what its earlier work wrote, and its
/// later work sees what has arrived. Whether the host waits is the transport's affair.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::string_view name() const = 0;

  /// Makes room for exchanges of no more than `largest`, so that none allocates.
  virtual void reserve(const std::vector<Message>& /*largest*/) {}
  /// Start moving; `messages` and their buffers stay untouched until `finish`. One exchange at a
  /// time; every message has its counterpart, of the same length and tag, at the peer.
  virtual void begin(const device::Device& exec, const std::vector<Message>& messages, int tag) = 0;
  /// Whether pixels of a tile must be brought to buffers for `begin`, and back; the same on all
  /// ranks. If not, `begin_in_place` takes them.
  virtual bool needs_buffers() const { return true; }
  /// `begin` without buffers: what is sent is read where it lies, between now and the end of
  /// `finish`, which puts what arrives in its place, or adds it in the order of the messages.
  virtual void begin_in_place(const TileFields& /*fields*/,
                              std::span<const PixelMessage> /*messages*/, Arrival /*arrival*/) {
    throw std::logic_error("transport: pixels in place");
  }
  /// Between `begin` and `finish`, while the host works: moves on what moves only when its host
  /// asks, and does not wait.
  virtual void progress() {}
  /// Later work of `exec` finds everything that `begin` started arrived and sent.
  virtual void finish(const device::Device& exec) = 0;
  /// Between `begin` and `finish`: whether `finish` shall also do what `all_reduce` does, on ranks
  /// without messages too. False: it does not.
  virtual bool reduce_along(const device::DeviceView<Real*>& /*values*/) { return false; }
  /// True if the host takes no part in any of this, so that a device::Graph can record it.
  virtual bool recordable() const { return false; }
  /// Whether `all_reduce` may run in one queue of the device and an exchange in another, and gains
  /// by it.
  virtual bool sums_beside() const { return false; }
  /// Sum over all ranks, in place, the same bits on every rank. Collective.
  virtual void all_reduce(const device::Device& exec, const device::DeviceView<Real*>& values) = 0;
  /// The same for what is added in double whatever a Real is: costs, step sizes, inner products.
  virtual void all_reduce_doubles(const device::Device& exec,
                                  const device::DeviceView<double*>& values) = 0;
  /// From rank 0 to all. Collective.
  virtual void broadcast(const device::Device& exec, const device::DeviceView<Real*>& values) = 0;

  /// Once a batch: look for failures, and mark how far `exec` is for `wait`. Waits only when many
  /// batches are under way.
  /// @throws SystemError if a peer or a link has failed or time is up; the transport is then of no
  /// more use
  virtual void watch(const device::Device&) {}
  /// Instead of exec.fence() after work that waits for other ranks: it ends when they do not
  /// answer.
  /// @throws SystemError as `watch`
  virtual void wait(const device::Device& exec) { exec.fence(); }
};

/// Seconds without progress after which a transport gives up, unless the deck says otherwise.
inline constexpr double default_timeout_s = 20;

/// What this build has: of "host_mpi", "gpu_mpi", "nccl", "gpu_p2p". Whether they work is the
/// machine's affair.
std::vector<std::string> transport_names();

/// The transport called `name`, one of transport_names() or "auto": what is usually the fastest of
/// those that work here. Collective.
/// @throws AgreedError (exit code 2) naming what is missing and what there is; SystemError
std::unique_ptr<Transport> make_transport(std::string_view name, const comm::Communicator& comm,
                                          double timeout_s = default_timeout_s);

}  // namespace tessera::halo
