#pragma once
/// Whether the beam changes along the scan: some epochs with OPR modes tell, from half-way on.

#include <memory>
#include <optional>

#include "run/run.hpp"

namespace tessera::run {

/// Of one run. All calls are collective.
class OprTrial {
 public:
  /// Before an epoch, and behind the last. Where `probe.opr_trial_epoch` has come, `run` is written
  /// to output.file and goes on with OPR modes, and with positions and intensities as at first:
  /// they take up what the beam does. After the trial's epochs it keeps the modes if its error is
  /// clearly lower than it would have become as it went, else it goes on from that file. So nothing
  /// else may be written there while the trial is on.
  std::unique_ptr<Run> before_epoch(std::unique_ptr<Run> run, const Log& log);
  bool is_on() const { return steady_.has_value(); }
  /// Back to where the trial began.
  std::unique_ptr<Run> given_up(std::unique_ptr<Run> run);

 private:
  std::unique_ptr<Run> begun(std::unique_ptr<Run> run, const Log& log);

  std::optional<deck::Deck> steady_;  ///< of the run that the trial may go back to
  double error_ = 0;                  ///< of its last epoch
  double own_progress_ = 1;           ///< of the error, in the epochs before
  bool is_over_ = false;              ///< without the modes
};

}  // namespace tessera::run
