#pragma once
/// Ctrl-C and a scheduler's signals: the run stops after the epoch in which they come, and writes
/// its result.

namespace tessera::run {

/// Catches SIGINT, SIGTERM and SIGUSR1 as long as it lives.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  bool arrived() const;
};

}  // namespace tessera::run
