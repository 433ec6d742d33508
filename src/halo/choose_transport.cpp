#include "halo/choose_transport.hpp"

#include <algorithm>
#include <iomanip>
#include <limits>
#include <ranges>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "transports.hpp"

namespace tessera::halo {
namespace {

using device::Device;
using device::DeviceView;

/// What rank `from` sends as its i-th number; sums of 4096 ranks are exact.
KOKKOS_FUNCTION Real sent(int from, std::int64_t i) {
  return static_cast<Real>((from * 31 + i) % 4096);
}

void write_sent(const Device& exec, const DeviceView<Real*>& values, int from) {
  Kokkos::parallel_for(
      device::kernel_name("tessera::comm::write_sent"),
      Kokkos::RangePolicy<Device>(exec, 0, values.size()),
      KOKKOS_LAMBDA(const std::int64_t i) { values(i) = sent(from, i); });
}

/// How many are not what the ranks from `from` to before `end` have sent, summed. Waits.
std::int64_t count_wrong(const Device& exec, const DeviceView<Real*>& values, int from, int end) {
  std::int64_t n_wrong = 0;
  Kokkos::parallel_reduce(
      device::kernel_name("tessera::comm::count_wrong"),
      Kokkos::RangePolicy<Device>(exec, 0, values.size()),
      KOKKOS_LAMBDA(const std::int64_t i, std::int64_t& found) {
        Real sum = 0;
        for (int rank = from; rank < end; ++rank) sum += sent(rank, i);
        if (values(i) != sum) ++found;
      },
      n_wrong);
  return n_wrong;
}

/// A batch's exchanges without their packing: an accumulate, a sum, a fill.
class Trial {
 public:
  explicit Trial(const BatchTraffic& traffic)
      : summed_("tessera::comm::trial_sum", static_cast<std::size_t>(traffic.n_summed_reals)) {
    for (const decomposition::PeerBoxes& p : traffic.plan.peers) {
      const std::int64_t n_owned = p.owned_here.area() * traffic.reals_per_pixel;
      const std::int64_t n_ghost = p.ghost_here.area() * traffic.reals_per_pixel;
      const DeviceView<Real*> owned = owned_.emplace_back("tessera::comm::trial_owned", n_owned);
      const DeviceView<Real*> ghost = ghost_.emplace_back("tessera::comm::trial_ghost", n_ghost);
      to_owners_.push_back({p.peer, ghost.data(), n_ghost, owned.data(), n_owned});
      to_ghosts_.push_back({p.peer, owned.data(), n_owned, ghost.data(), n_ghost});
    }
  }

  /// Of what is sent something may not arrive as it was: GPUs that write into each other's memory
  /// do so wrongly behind some bridges and hypervisors, and nobody says so. Collective.
  /// @throws SystemError, when all is done that ranks do together
  void check(const Device& exec, Transport& transport, const comm::Communicator& comm) {
    std::string wrong = found_wrong(exec, transport, comm.rank(), ghost_, to_owners_, 1, owned_) +
                        found_wrong(exec, transport, comm.rank(), owned_, to_ghosts_, 2, ghost_);
    write_sent(exec, summed_, comm.rank());
    transport.all_reduce(exec, summed_);
    transport.wait(exec);
    if (const std::int64_t n = count_wrong(exec, summed_, 0, comm.size()); n > 0)
      wrong += text(n, " of ", summed_.size(), " sums, ");
    if (!wrong.empty())
      throw SystemError(text("with ", transport.name(), " arrive wrong on this machine: ", wrong,
                             "name another decomposition.transport"));
  }

  /// Collective.
  double seconds_per_batch(const Device& exec, Transport& transport) {
    constexpr int n_rounds = 5;
    constexpr int n_batches = 4;
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < n_rounds; ++i) {
      const Kokkos::Timer timer;
      run(exec, transport, n_batches);
      best = std::min(best, timer.seconds() / n_batches);
    }
    return best;
  }

 private:
  static std::string found_wrong(const Device& exec, Transport& transport, int rank,
                                 const std::vector<DeviceView<Real*>>& from,
                                 const std::vector<Message>& messages, int tag,
                                 const std::vector<DeviceView<Real*>>& to) {
    for (const DeviceView<Real*>& values : from) write_sent(exec, values, rank);
    transport.begin(exec, messages, tag);
    transport.finish(exec);
    transport.wait(exec);
    std::string wrong;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const int peer = messages[i].peer;
      if (const std::int64_t n = count_wrong(exec, to[i], peer, peer + 1); n > 0)
        wrong += text(n, " of ", to[i].size(), " numbers from rank ", peer, ", ");
    }
    return wrong;
  }

  void run(const Device& exec, Transport& transport, int n_batches) {
    for (int i = 0; i < n_batches; ++i) {
      transport.begin(exec, to_owners_, 1);
      transport.finish(exec);
      transport.all_reduce(exec, summed_);
      transport.begin(exec, to_ghosts_, 2);
      transport.finish(exec);
    }
    transport.wait(exec);
  }

  std::vector<DeviceView<Real*>> owned_;
  std::vector<DeviceView<Real*>> ghost_;
  std::vector<Message> to_owners_;
  std::vector<Message> to_ghosts_;
  DeviceView<Real*> summed_;
};

struct Candidate {
  std::string name;
  std::unique_ptr<Transport> transport;  ///< null: cannot be used here
  double seconds = 0;
  std::string problem;
};

/// What the trial does not see: work without the host hides behind kernels, and whole batches of it
/// are launched at once. That is worth half of the time where times are alike.
double cost(const Candidate& candidate) {
  return candidate.seconds * (candidate.transport->recordable() ? 0.5 : 1);
}

Candidate tried(const std::string& name, const comm::Communicator& comm, double timeout_s,
                const Device& exec, Trial& trial) {
  const TransportKind kind = kind_named(name);
  Candidate candidate{.name = name, .transport = {}, .seconds = 0, .problem = kind.why_not(comm)};
  if (!candidate.problem.empty()) return candidate;
  try {
    comm.together([&] {
      candidate.transport = kind.start(comm, timeout_s);
      trial.check(exec, *candidate.transport, comm);
      candidate.seconds = trial.seconds_per_batch(exec, *candidate.transport);
    });
    comm.maximum(std::span(&candidate.seconds, 1));  // all wait for the slowest
  } catch (const AgreedError& error) {
    candidate.transport.reset();
    candidate.problem = error.what();
  }
  return candidate;
}

std::string milliseconds(double seconds) {
  std::ostringstream out;
  out << std::setprecision(3) << seconds * 1e3 << " ms";
  return out.str();
}

std::string report(const std::vector<Candidate>& candidates, const Candidate& best) {
  std::string line = text("transport ", best.name, ": ", milliseconds(best.seconds),
                          " for the exchanges of a batch");
  for (const Candidate& c : candidates)
    if (c.transport && &c != &best) line += text("; ", c.name, " ", milliseconds(c.seconds));
  for (const Candidate& c : candidates)
    if (!c.transport) line += text("; not ", c.name, ": ", c.problem);
  return line;
}

}  // namespace

void check_transport(const Device& exec, Transport& transport, const comm::Communicator& comm,
                     const BatchTraffic& traffic) {
  Trial trial(traffic);
  comm.together([&] { trial.check(exec, transport, comm); });
}

std::unique_ptr<Transport> choose_transport(std::string_view name, const comm::Communicator& comm,
                                            double timeout_s, const BatchTraffic& traffic,
                                            const Log& log) {
  const std::vector<std::string> names = transport_names();
  const Device exec;
  if (name != "auto" || comm.size() == 1 || names.size() == 1) {
    auto named = make_transport(name, comm, timeout_s);
    // What is allocated at first use, connections and pinned memory, is allocated now.
    if (!device::device_is_host && comm.size() > 1) check_transport(exec, *named, comm, traffic);
    return named;
  }
  Trial trial(traffic);
  std::vector<Candidate> candidates;
  candidates.reserve(names.size());
  for (const std::string& each : names | std::views::reverse) {  // the usually fastest first
    candidates.push_back(tried(each, comm, timeout_s, exec, trial));
    if (candidates.back().transport && kind_named(each).is_never_beaten) break;
  }
  Candidate& best = *std::min_element(candidates.begin(), candidates.end(),
                                      [](const Candidate& a, const Candidate& b) {
                                        if (!a.transport || !b.transport)
                                          return a.transport && !b.transport;
                                        return cost(a) < cost(b);
                                      });
  if (!best.transport) throw SystemError(text("no transport works here: ", best.problem));
  log.info(report(candidates, best));
  return std::move(best.transport);
}

}  // namespace tessera::halo
