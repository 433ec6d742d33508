#include "comm/watchdog.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <unistd.h>

#include "tessera/base/host.hpp"
#include "tessera/base/progress.hpp"
#include "tessera/base/text.hpp"

#include "base/thread.hpp"

namespace tessera::comm {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// Why the process does not run; empty: it does. The letter is what Linux calls its state.
std::string why_it_stands(long process) {
  std::ifstream stat(text("/proc/", process, "/stat"));
  std::string line;
  if (!std::getline(stat, line)) return "has ended";
  const std::size_t name_end = line.rfind(')');
  const char state = name_end + 2 < line.size() ? line[name_end + 2] : ' ';
  if (state == 'T' || state == 't') return "is stopped (SIGSTOP, or a debugger)";
  if (state == 'Z' || state == 'X') return "has ended";
  if (state == 'D') return "waits for a file system or a driver";
  return "";
}

}  // namespace

Watchdog::Watchdog(const Communicator& comm, double timeout_s, std::string key)
    : rank_(comm.rank()), timeout_s_(timeout_s), key_(std::move(key)) {
  if (timeout_s == 0) return;
  const long mine = ::getpid();
  const std::vector<long> processes = comm.all_gather(std::span<const long>(&mine, 1));
  const std::vector<std::string> hosts = comm.all_gather(host_name());
  for (int rank = 0; rank < comm.size(); ++rank)
    if (rank != rank_ && hosts[rank] == hosts[rank_])
      neighbours_.push_back({rank, processes[rank]});
  thread_ = start_thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void Watchdog::watch() {
  const Seconds period(std::clamp(timeout_s_ / 20, 0.05, 1.0));
  Seconds still(0);
  std::uint64_t steps = progress_so_far().steps;
  auto last = Clock::now();
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, period, [&] { return ends_; })) {
    const auto now = Clock::now();
    // Longer than that only if this process itself was not let run.
    still += std::min<Seconds>(now - last, 2 * period);
    last = now;
    const Progress progress = progress_so_far();
    if (progress.steps != steps) still = Seconds(0);
    steps = progress.steps;
    if (still.count() > timeout_s_) end_job(progress.doing);
  }
}

std::string Watchdog::stopped_neighbours() const {
  std::vector<std::string> found;
  for (const Neighbour& neighbour : neighbours_) {
    const std::string why = why_it_stands(neighbour.process);
    if (!why.empty())
      found.push_back(text("rank ", neighbour.rank, " (process ", neighbour.process, ") ", why));
  }
  return joined(found, "; ");
}

void Watchdog::end_job(const char* doing) const {
  const std::string others = stopped_neighbours();
  const std::string line = text("tessera: error: [rank ", rank_, "] on ", host_name(), " (process ",
                                ::getpid(), ") has made no progress for ", timeout_s_, " s (", key_,
                                ") in ", doing, others.empty() ? "" : "; on this host ", others,
                                ": the job ends, and the last saved result stays\n");
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  // The MPI library may be what hangs: then the process dies of the alarm, and its launcher ends
  // the others.
  constexpr unsigned patience_s = 5;
  std::signal(SIGALRM, SIG_DFL);
  ::alarm(patience_s);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

}  // namespace tessera::comm
