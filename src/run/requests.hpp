#pragma once
/// What a person or a scheduler asks of a run that is under way: by signals, by files beside the
/// result, by the end of the job.

#include <chrono>
#include <limits>
#include <string>

#include "tessera/comm/communicator.hpp"

#include "deck/deck.hpp"
#include "stop_signals.hpp"

namespace tessera::run {

/// The same on all ranks.
struct Request {
  bool signalled = false;  ///< any rank, to end
  bool stop = false;       ///< by a file
  bool save = false;       ///< by a signal to any rank or a file
  bool job_ends = false;   ///< too soon for another epoch
  double seconds = 0;      ///< of rank 0's clock, since the requests were first listened to
};

class Requests {
 public:
  Requests(const deck::Output& output, const comm::Communicator& comm);
  /// What has come since the last call; the files that said so are removed. Collective: one
  /// all-reduce.
  /// @param room_s what this rank needs for one more epoch and the end of the run
  Request agreed(double room_s);
  /// Whether a signal to any rank wants the end; what files ask for waits for `agreed`. Collective.
  bool signalled();
  /// Signals that have come to this rank are acted upon.
  void forget_signals() { signals_.forget(); }
  const StopSignals& signals() const { return signals_; }

 private:
  bool take(const char* suffix) const;

  const comm::Communicator& comm_;
  const std::string output_;
  StopSignals signals_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double job_end_s_ = std::numeric_limits<double>::infinity();  ///< since 1970, of rank 0
};

}  // namespace tessera::run
