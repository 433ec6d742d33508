#include "transport_host_mpi.hpp"

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::comm {
namespace {

MPI_Datatype real_type() {
  return sizeof(Real) == sizeof(double) ? MPI_DOUBLE : MPI_FLOAT;
}

int checked_count(std::int64_t n, int peer) {
  if (n > std::numeric_limits<int>::max())
    throw SystemError(text("a halo message of ", n, " numbers to rank ", peer,
                           " is larger than MPI can count; use more ranks"));
  return static_cast<int>(n);
}

}  // namespace

void HostMpiTransport::begin(const device::Device& exec, const std::vector<Message>& messages,
                             int tag) {
  exec.fence();  // what is sent must be complete
  requests_.clear();
  for (const Message& m : messages) {
    if (m.n_receive == 0) continue;
    check_mpi(MPI_Irecv(m.receive, checked_count(m.n_receive, m.peer), real_type(), m.peer, tag,
                        comm_.handle(), &requests_.emplace_back()));
  }
  for (const Message& m : messages) {
    if (m.n_send == 0) continue;
    check_mpi(MPI_Isend(m.send, checked_count(m.n_send, m.peer), real_type(), m.peer, tag,
                        comm_.handle(), &requests_.emplace_back()));
  }
}

void HostMpiTransport::finish(const device::Device&) {
  check_mpi(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
}

void HostMpiTransport::all_reduce(const device::Device& exec,
                                  const device::DeviceView<Real*>& values) {
  if (comm_.size() == 1) return;
  exec.fence();
  comm_.sum(std::span(values.data(), values.extent(0)));
}

void HostMpiTransport::broadcast(const device::Device& exec,
                                 const device::DeviceView<Real*>& values) {
  if (comm_.size() == 1) return;
  exec.fence();
  comm_.broadcast(std::span(values.data(), values.extent(0)));
}

std::vector<std::string> transport_names() {
  return {"host_mpi"};
}

std::unique_ptr<Transport> make_transport(std::string_view name, const Communicator& comm) {
  if (name == "auto" || name == "host_mpi") return std::make_unique<HostMpiTransport>(comm);
  throw InputError(text("decomposition.transport = '", name,
                        "' is not in this build; it has 'auto' and 'host_mpi'"));
}

}  // namespace tessera::comm
