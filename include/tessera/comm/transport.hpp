#pragma once
/// How bytes travel between ranks. The halo exchange and the solvers know only this.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/comm/communicator.hpp"
#include "tessera/device/device.hpp"

namespace tessera::comm {

/// What goes to and comes from one peer; device memory, counted in Reals; either may be empty.
struct Message {
  int peer = 0;
  const Real* send = nullptr;
  std::int64_t n_send = 0;
  Real* receive = nullptr;
  std::int64_t n_receive = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::string_view name() const = 0;

  /// Start moving; `messages` and their buffers stay untouched until `finish`. One exchange at a
  /// time per `tag`.
  virtual void begin(const device::Device& exec, const std::vector<Message>& messages, int tag) = 0;
  /// Wait until everything that `begin` started has arrived and been sent.
  virtual void finish(const device::Device& exec) = 0;
  /// Sum over all ranks, in place, the same bits on every rank. Collective.
  virtual void all_reduce(const device::Device& exec, const device::DeviceView<Real*>& values) = 0;
  /// From rank 0 to all. Collective.
  virtual void broadcast(const device::Device& exec, const device::DeviceView<Real*>& values) = 0;
};

/// What `make_transport` can make in this build.
std::vector<std::string> transport_names();

/// The transport called `name` ("auto" or "host_mpi").
/// @throws InputError naming what this build and machine have
std::unique_ptr<Transport> make_transport(std::string_view name, const Communicator& comm);

}  // namespace tessera::comm
