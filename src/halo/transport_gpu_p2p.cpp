#include "transport_gpu_p2p.hpp"

#include <exception>
#include <thread>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/device/stream.hpp"

#include "transports.hpp"

namespace tessera::halo {
namespace {

/// Every rank's, open to all. Collective.
std::unique_ptr<PeerMemory> open_memory(const comm::Communicator& comm) {
  std::unique_ptr<PeerMemory> memory;
  PeerMemory::Handle mine{};
  double n_blocks = 0;
  comm.together([&] { n_blocks = PeerMemory::n_blocks_that_fit(comm.size()); });
  comm.minimum(std::span(&n_blocks, 1));
  comm.together([&] {
    memory = std::make_unique<PeerMemory>(comm.rank(), comm.size(), static_cast<int>(n_blocks));
    mine = memory->handle();
  });
  const std::vector<char> bytes = comm.all_gather(std::span<const char>(mine));
  std::vector<PeerMemory::Handle> of_rank(static_cast<std::size_t>(comm.size()));
  for (std::size_t r = 0; r < of_rank.size(); ++r)
    std::copy_n(bytes.data() + r * mine.size(), mine.size(), of_rank[r].data());
  comm.together([&] { memory->open(of_rank); });
  return memory;
}

/// Whether all ranks came within `timeout_s`. A rank that has ended never comes.
bool meet(const comm::Communicator& comm, double timeout_s) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(comm.handle(), &request) != MPI_SUCCESS) return false;
  const Kokkos::Timer timer;
  int met = 0;
  while (MPI_Test(&request, &met, MPI_STATUS_IGNORE) == MPI_SUCCESS && !met) {
    if (timer.seconds() > timeout_s) return false;
    std::this_thread::yield();
  }
  return met != 0;
}

}  // namespace

GpuP2pTransport::GpuP2pTransport(const comm::Communicator& comm, double timeout_s)
    : comm_(comm),
      timeout_s_(timeout_s),
      memory_(open_memory(comm)),
      marks_(
          timeout_s, [] {},
          [this](const std::string& why) {
            memory_->give_up();
            throw SystemError(why);
          }) {
  messages_.reserve(static_cast<std::size_t>(comm.size()));
}

GpuP2pTransport::~GpuP2pTransport() {
  memory_->close();
  if (std::uncaught_exceptions() == 0) meet(comm_, timeout_s_);
}

void GpuP2pTransport::begin(const device::Device&, const std::vector<Message>& messages, int) {
  fields_ = {};
  messages_.clear();
  for (const Message& m : messages)
    if (m.n_send > 0 || m.n_receive > 0)
      // The kernel writes to none that it sends.
      messages_.push_back({m.peer,
                           {const_cast<Real*>(m.send), nullptr, 0, m.n_send},
                           {m.receive, nullptr, 0, m.n_receive}});
}

void GpuP2pTransport::begin_in_place(const TileFields& fields,
                                     std::span<const PixelMessage> messages, Arrival arrival) {
  fields_ = {{}, fields.n, fields.tile, arrival == Arrival::adds};
  for (int i = 0; i < fields.n; ++i)
    fields_.fields[i] = {fields.fields[i].data, fields.fields[i].n_planes,
                         fields.fields[i].n_components};
  const auto pixels = [&](const decomposition::MessagePieces& message) {
    return PeerNumbers<Real>{nullptr, fields.pieces + message.begin, message.count,
                             message.n_pixels};
  };
  messages_.clear();
  for (const PixelMessage& m : messages)
    if (m.send.n_pixels > 0 || m.receive.n_pixels > 0)
      messages_.push_back({m.peer, pixels(m.send), pixels(m.receive)});
}

bool GpuP2pTransport::reduce_along(const device::DeviceView<Real*>& values) {
  summed_ = values;
  return true;
}

/// A kernel that waits in `begin` would hold up the work behind it.
void GpuP2pTransport::finish(const device::Device& exec) {
  memory_->exchange_and_sum(fields_, messages_, summed_.data(), summed_.extent(0),
                            device::stream_handle(exec));
  summed_ = {};
}

void GpuP2pTransport::all_reduce(const device::Device& exec,
                                 const device::DeviceView<Real*>& values) {
  memory_->exchange_and_sum({}, {}, values.data(), values.extent(0), device::stream_handle(exec));
}

void GpuP2pTransport::all_reduce_doubles(const device::Device& exec,
                                         const device::DeviceView<double*>& values) {
  memory_->exchange_and_sum({}, {}, values.data(), values.extent(0), device::stream_handle(exec));
}

void GpuP2pTransport::broadcast(const device::Device& exec,
                                const device::DeviceView<Real*>& values) {
  memory_->broadcast(values.data(), values.extent(0), device::stream_handle(exec));
}

void GpuP2pTransport::watch(const device::Device& exec) {
  marks_.set(exec);
}

void GpuP2pTransport::wait(const device::Device& exec) {
  marks_.wait(exec);
}

namespace {

std::string why_not_gpu_p2p(const comm::Communicator& comm) {
  if (comm.size() > PeerMemory::max_ranks)
    return text("it is for ", PeerMemory::max_ranks, " ranks at most, not ", comm.size());
  if (comm.any(comm.local_rank() != comm.rank())) return "the ranks are on several hosts";
  const std::string shared = ranks_on_one_gpu(comm);
  if (!shared.empty()) return shared + "; start one rank per GPU";
  try {
    const auto memory = open_memory(comm);
    memory->close();
    comm.barrier();
  } catch (const AgreedError& error) {
    return text("the GPUs cannot write into each other's memory: ", error.what());
  }
  return {};
}

std::unique_ptr<Transport> start_gpu_p2p(const comm::Communicator& comm, double timeout_s) {
  return std::make_unique<GpuP2pTransport>(comm, timeout_s);
}

}  // namespace

template <>
TransportKind transport_kind<settings::GpuP2p>() {
  return {settings::GpuP2p::name, true, why_not_gpu_p2p, start_gpu_p2p, true};
}

}  // namespace tessera::halo
