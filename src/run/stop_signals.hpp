#pragma once
/// Ctrl-C and a scheduler's signals: they are noted, and the run acts on them after the epoch in
/// which they come.

#include "tessera/base/error.hpp"

namespace tessera::run {

/// From the program's start until there are StopSignals: SIGINT and SIGTERM end it at once, for
/// there is nothing to lose; SIGUSR1 is kept for them.
void expect_signals();

/// Catches SIGINT, SIGTERM and SIGUSR1 as long as it lives.
class StopSignals {
 public:
  /// @param usr1_saves SIGUSR1 asks for a save instead of the end
  explicit StopSignals(bool usr1_saves);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  bool ask_to_stop() const;
  /// Whether a save has been asked for since the last call.
  bool take_save();
  void forget();

 private:
  bool usr1_saves_;
};

inline constexpr const char* signal_status = "stopped by a signal";

/// As long as it lives there is nothing that the run's end could save: end_at_once() heeds signals.
class NothingToSave {
 public:
  NothingToSave(const StopSignals& signals, ExitCode code);
  ~NothingToSave();
  NothingToSave(const NothingToSave&) = delete;
  NothingToSave& operator=(const NothingToSave&) = delete;
};

/// For long work that the ranks leave together.
/// @throws Error of that code if a signal to end has come to this rank and there is NothingToSave
void end_at_once();

}  // namespace tessera::run
