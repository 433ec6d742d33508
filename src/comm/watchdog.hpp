#pragma once
/// Ends a job that stands still. MPI waits for ever for a rank that hangs or was stopped.

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tessera/comm/communicator.hpp"

namespace tessera::comm {

/// A thread that looks at this process' signs of life (tessera/base/progress.hpp). Where there is
/// none for the time allowed, it says which rank waits for what, and which ranks of this host do
/// not run, and ends the job. Ranks of other hosts speak for themselves. Time in which this
/// process itself was stopped does not count.
class Watchdog {
 public:
  /// Collective.
  /// @param timeout_s 0: never
  /// @param key that says so, for the message
  Watchdog(const Communicator& comm, double timeout_s, std::string key);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  struct Neighbour {
    int rank;
    long process;
  };
  void watch();
  [[noreturn]] void end_job(const char* doing) const;
  std::string stopped_neighbours() const;

  int rank_;
  double timeout_s_;
  std::string key_;
  std::vector<Neighbour> neighbours_;  ///< the other ranks of this host
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace tessera::comm
