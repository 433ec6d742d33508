#include "transport_staged_mpi.hpp"

#include <algorithm>

#include "mpi_reals.hpp"

namespace tessera::halo {
namespace {

/// Long enough that the start of a copy costs nothing beside it, short enough that MPI starts soon.
constexpr std::int64_t piece_reals = (1 << 20) / static_cast<std::int64_t>(sizeof(Real));

void grow(device::PinnedBuffer& buffer, std::size_t n_bytes) {
  if (n_bytes > buffer.n_bytes()) buffer = device::PinnedBuffer(n_bytes);
}

}  // namespace

/// Cut all messages into pieces, which both ends do alike, with pinned memory for each.
void StagedMpiTransport::lay_out(const std::vector<Message>& messages) {
  std::int64_t n_total = 0;
  for (const Message& m : messages) n_total += m.n_send + m.n_receive;
  grow(pinned_, static_cast<std::size_t>(n_total) * sizeof(Real));
  Real* next = reinterpret_cast<Real*>(pinned_.data());
  const auto cut = [&](std::vector<Piece>& pieces, int peer, Real* on_device, std::int64_t n) {
    for (std::int64_t begin = 0; begin < n; begin += piece_reals) {
      const std::int64_t length = std::min(piece_reals, n - begin);
      pieces.push_back({peer, on_device + begin, next, length});
      next += length;
    }
  };
  outgoing_.clear();
  incoming_.clear();
  for (const Message& m : messages) {
    cut(outgoing_, m.peer, const_cast<Real*>(m.send), m.n_send);  // only read
    cut(incoming_, m.peer, m.receive, m.n_receive);
  }
  while (on_host_.size() < outgoing_.size()) on_host_.emplace_back();
}

void StagedMpiTransport::begin(const device::Device& exec, const std::vector<Message>& messages,
                               int tag) {
  ready_.record(exec);
  ready_.hold(outward_);
  ready_.hold(inward_);
  arrived_.wait();  // the copies of the exchange before still read pinned memory
  tag_ = tag;
  lay_out(messages);
  receives_.clear();
  sends_.clear();
  for (const Piece& p : incoming_)
    receives_.push_back(start_receive(comm_, p.pinned, p.n, p.peer, tag));
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    device::copy_async(outward_, outgoing_[i].pinned, outgoing_[i].on_device,
                       outgoing_[i].n_bytes());
    on_host_[i].record(outward_);
  }
}

/// Send the pieces from `next` on that have reached the host. Returns the first that has not.
int StagedMpiTransport::try_send(int next) {
  for (; next < std::ssize(outgoing_) && on_host_[next].passed(); ++next) {
    const Piece& p = outgoing_[next];
    sends_.push_back(start_send(comm_, p.pinned, p.n, p.peer, tag_));
  }
  return next;
}

/// Pass one arrived piece on to the device. False: none has arrived.
bool StagedMpiTransport::try_receive() {
  int which = MPI_UNDEFINED;
  int found = 0;
  comm::check_mpi(MPI_Testany(static_cast<int>(receives_.size()), receives_.data(), &which, &found,
                              MPI_STATUS_IGNORE));
  if (found == 0 || which == MPI_UNDEFINED) return false;
  const Piece& p = incoming_[which];
  device::copy_async(inward_, p.on_device, p.pinned, p.n_bytes());
  return true;
}

void StagedMpiTransport::finish(const device::Device& exec) {
  int n_sent = 0;
  int n_received = 0;
  while (n_sent < std::ssize(outgoing_) || n_received < std::ssize(incoming_)) {
    n_sent = try_send(n_sent);
    if (try_receive()) ++n_received;
  }
  wait_for_all(sends_);
  arrived_.record(inward_);
  arrived_.hold(exec);
}

void* StagedMpiTransport::to_host(const device::Device& exec, void* values, std::size_t n_bytes) {
  arrived_.wait();
  grow(collective_, n_bytes);
  device::copy_async(exec, collective_.data(), values, n_bytes);
  ready_.record(exec);
  ready_.wait();
  return collective_.data();
}

void StagedMpiTransport::to_device(const device::Device& exec, void* values, std::size_t n_bytes) {
  device::copy_async(exec, values, collective_.data(), n_bytes);
  arrived_.record(exec);
}

}  // namespace tessera::halo
