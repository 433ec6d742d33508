#pragma once
/// Ctrl-C and a scheduler's signals: they are noted, and the run acts on them after the epoch in
/// which they come.

namespace tessera::run {

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

 private:
  bool usr1_saves_;
};

}  // namespace tessera::run
