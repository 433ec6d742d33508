#include "transport_host_mpi.hpp"

#include <span>

#include "mpi_reals.hpp"
#include "transport_staged_mpi.hpp"
#include "transports.hpp"

namespace tessera::halo {

void HostMpiTransport::begin(const device::Device& exec, const std::vector<Message>& messages,
                             int tag) {
  exec.fence();  // what is sent must be complete
  start_exchange(comm_, messages, tag, requests_);
}

void HostMpiTransport::progress() {
  test_all(requests_);
}

void HostMpiTransport::finish(const device::Device&) {
  wait_for_all(requests_);
}

void* HostMpiTransport::to_host(const device::Device& exec, void* values, std::size_t) {
  exec.fence();
  return values;
}

template <class Value, class Work>
void HostMpiTransport::on_host(const device::Device& exec, const device::DeviceView<Value*>& values,
                               const Work& work) {
  if (comm_.size() == 1) return;
  const std::size_t n_bytes = values.extent(0) * sizeof(Value);
  work(std::span(static_cast<Value*>(to_host(exec, values.data(), n_bytes)), values.extent(0)));
  to_device(exec, values.data(), n_bytes);
}

void HostMpiTransport::all_reduce(const device::Device& exec,
                                  const device::DeviceView<Real*>& values) {
  on_host(exec, values, [&](std::span<Real> there) { comm_.sum(there); });
}

void HostMpiTransport::all_reduce_doubles(const device::Device& exec,
                                          const device::DeviceView<double*>& values) {
  on_host(exec, values, [&](std::span<double> there) { comm_.sum(there); });
}

void HostMpiTransport::broadcast(const device::Device& exec,
                                 const device::DeviceView<Real*>& values) {
  on_host(exec, values, [&](std::span<Real> there) { comm_.broadcast(there); });
}

namespace {

std::string always(const comm::Communicator&) {
  return {};
}

std::unique_ptr<Transport> start_host_mpi(const comm::Communicator& comm, double) {
  if (device::device_is_host) return std::make_unique<HostMpiTransport>(comm);
  return std::make_unique<StagedMpiTransport>(comm);
}

}  // namespace

template <>
TransportKind transport_kind<settings::HostMpi>() {
  return {settings::HostMpi::name, true, always, start_host_mpi};
}

}  // namespace tessera::halo
