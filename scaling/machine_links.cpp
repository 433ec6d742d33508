#include "machine_links.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

#include "tessera/device/device.hpp"
#include "tessera/halo/transport.hpp"

namespace tessera::scaling {
namespace {

using Reals = device::DeviceView<Real*>;

constexpr std::int64_t n_short = 16;
constexpr std::int64_t n_long = 1 << 17;

/// Of one call of `work`, the least mean of many rounds. On a host of one call, so that a moment
/// in which all ranks run is enough; on a device of some that follow one another, as in a run.
template <class Work>
double least_seconds(const comm::Communicator& comm, const Work& work) {
  const device::Device exec;
  constexpr int n_rounds = 200;
  constexpr int n_calls = device::device_is_host ? 1 : 10;
  std::vector<double> rounds;
  for (int round = 0; round < n_rounds; ++round) {
    comm.barrier();
    const Kokkos::Timer timer;
    for (int i = 0; i < n_calls; ++i) work(exec);
    exec.fence();
    rounds.push_back(timer.seconds() / n_calls);
  }
  // Who comes last finds the others' messages there: of each round, who came first.
  comm.maximum(rounds);
  return std::ranges::min(rounds);
}

/// To the next rank, from the one before; of two ranks both are the same.
std::vector<halo::Message> ring(const comm::Communicator& comm, const Reals& send,
                                const Reals& receive, std::int64_t n) {
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
  if (next == previous) return {{next, send.data(), n, receive.data(), n}};
  std::vector<halo::Message> messages{{next, send.data(), n, nullptr, 0},
                                      {previous, nullptr, 0, receive.data(), n}};
  std::ranges::sort(messages, {}, &halo::Message::peer);
  return messages;
}

}  // namespace

cost::Link measure_link(const comm::Communicator& comm) {
  cost::Link link{.n_ranks = comm.size()};
  if (comm.size() == 1) return link;
  const auto transport = halo::make_transport("auto", comm);
  const Reals send("tessera::scaling::send", n_long);
  const Reals receive("tessera::scaling::receive", n_long);
  transport->reserve(ring(comm, send, receive, n_long));
  const auto exchange_s = [&](std::int64_t n) {
    const std::vector<halo::Message> messages = ring(comm, send, receive, n);
    return least_seconds(comm, [&](const device::Device& exec) {
      transport->begin(exec, messages, 1);
      transport->finish(exec);
    });
  };
  const auto all_reduce_s = [&](std::int64_t n) {
    const Reals values("tessera::scaling::values", static_cast<std::size_t>(n));
    return least_seconds(comm,
                         [&](const device::Device& exec) { transport->all_reduce(exec, values); });
  };
  // Noise may make a long one seem shorter than a short one.
  const auto rate = [](double n_bytes, double long_s, double short_s) {
    return n_bytes / std::max(long_s - short_s, 1e-3 * long_s);
  };
  constexpr double long_bytes = n_long * sizeof(Real);
  const double short_s = exchange_s(n_short);
  link.latency_s = short_s;
  link.bytes_per_s = rate(long_bytes, exchange_s(n_long), short_s);
  const double short_sum_s = all_reduce_s(n_short);
  link.all_reduce_step_s = short_sum_s / std::bit_width(static_cast<unsigned>(comm.size() - 1));
  link.all_reduce_bytes_per_s =
      rate(2 * (1 - 1.0 / comm.size()) * long_bytes, all_reduce_s(n_long), short_sum_s);
  return link;
}

}  // namespace tessera::scaling
