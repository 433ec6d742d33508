#include "transport_host_mpi.hpp"

#include <span>

#include "mpi_reals.hpp"

namespace tessera::halo {

void HostMpiTransport::begin(const device::Device& exec, const std::vector<Message>& messages,
                             int tag) {
  exec.fence();  // what is sent must be complete
  requests_.clear();
  for (const Message& m : messages)
    if (m.n_receive > 0)
      requests_.push_back(start_receive(comm_, m.receive, m.n_receive, m.peer, tag));
  for (const Message& m : messages)
    if (m.n_send > 0) requests_.push_back(start_send(comm_, m.send, m.n_send, m.peer, tag));
}

void HostMpiTransport::finish(const device::Device&) {
  comm::check_mpi(
      MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
}

void HostMpiTransport::all_reduce(const device::Device& exec,
                                  const device::DeviceView<Real*>& values) {
  if (comm_.size() == 1) return;
  exec.fence();
  comm_.sum(std::span(values.data(), values.extent(0)));
}

void HostMpiTransport::all_reduce_doubles(const device::Device& exec,
                                          const device::DeviceView<double*>& values) {
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

}  // namespace tessera::halo
