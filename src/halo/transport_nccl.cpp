#include "transport_nccl.hpp"

#include <span>

#include "transports.hpp"

namespace tessera::halo {
namespace {

Nccl::Id agreed_id(const comm::Communicator& comm) {
  Nccl::Id id{};
  comm.together([&] {
    if (comm.is_root()) id = Nccl::make_id();
  });
  comm.broadcast(std::span<char>(id));
  return id;
}

std::size_t n_bytes(std::int64_t n_reals) {
  return static_cast<std::size_t>(n_reals) * sizeof(Real);
}

}  // namespace

NcclTransport::NcclTransport(const comm::Communicator& comm, double timeout_s)
    : n_ranks_(comm.size()),
      nccl_(agreed_id(comm), comm.rank(), comm.size(), timeout_s),
      marks_(
          timeout_s, [this] { nccl_.check(); },
          [this](const std::string& why) { nccl_.fail(why); }) {}

/// What NCCL does next comes after what exec does now ...
void NcclTransport::follow(const device::Device& exec) {
  ready_.record(exec);
  ready_.hold(stream_);
}
/// ... and what exec does next after what NCCL does now.
void NcclTransport::lead(const device::Device& exec) {
  arrived_.record(stream_);
  arrived_.hold(exec);
}

void NcclTransport::begin(const device::Device& exec, const std::vector<Message>& messages, int) {
  follow(exec);
  nccl_.begin_group();
  for (const Message& m : messages) {
    if (m.n_receive > 0) nccl_.receive(m.receive, n_bytes(m.n_receive), m.peer, stream_.handle());
    if (m.n_send > 0) nccl_.send(m.send, n_bytes(m.n_send), m.peer, stream_.handle());
  }
  nccl_.end_group();
}

void NcclTransport::finish(const device::Device& exec) {
  lead(exec);
}

void NcclTransport::all_reduce(const device::Device& exec,
                               const device::DeviceView<Real*>& values) {
  if (n_ranks_ == 1) return;
  follow(exec);
  nccl_.sum(values.data(), values.extent(0), stream_.handle());
  lead(exec);
}

void NcclTransport::all_reduce_doubles(const device::Device& exec,
                                       const device::DeviceView<double*>& values) {
  if (n_ranks_ == 1) return;
  follow(exec);
  nccl_.sum(values.data(), values.extent(0), stream_.handle());
  lead(exec);
}

void NcclTransport::broadcast(const device::Device& exec, const device::DeviceView<Real*>& values) {
  if (n_ranks_ == 1) return;
  follow(exec);
  nccl_.broadcast(values.data(), values.extent(0) * sizeof(Real), stream_.handle());
  lead(exec);
}

void NcclTransport::watch(const device::Device& exec) {
  marks_.set(exec);
}

void NcclTransport::wait(const device::Device& exec) {
  marks_.wait(exec);
}

namespace {

std::string why_not_nccl(const comm::Communicator& comm) {
  const std::string shared = ranks_on_one_gpu(comm);
  return shared.empty() ? shared : shared + ", which NCCL does not allow; start one rank per GPU";
}

std::unique_ptr<Transport> start_nccl(const comm::Communicator& comm, double timeout_s) {
  std::unique_ptr<Transport> made;
  comm.together([&] { made = std::make_unique<NcclTransport>(comm, timeout_s); });
  return made;
}

}  // namespace

template <>
TransportKind transport_kind<settings::Nccl>() {
  return {settings::Nccl::name, true, why_not_nccl, start_nccl};
}

}  // namespace tessera::halo
