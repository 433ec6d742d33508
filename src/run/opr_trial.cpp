#include "run/opr_trial.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "tessera/base/text.hpp"

namespace tessera::run {
namespace {

/// Of what would have come without; steady beams do not come below. What intensities have taken up
/// before leaves less to modes (docs/methods/automatic.md).
double enough(const deck::Deck& steady) {
  const int intensity_from = steady.refine.intensity.from_epoch;
  const bool has_intensities =
      intensity_from >= 0 && intensity_from < steady.probe.opr_trial.from_epoch.value_or(-1);
  return has_intensities ? 0.95 : 0.92;
}

/// Of the error in as many epochs as a trial has, up to now, and half as much from now on: what
/// goes on without one, and slows down.
double own_progress(std::span<const EpochFigures> history) {
  constexpr std::size_t n = settings::OprTrial::n_epochs;
  if (history.size() <= n) return 1;
  return std::sqrt(std::min(1.0, history.back().error / history[history.size() - 1 - n].error));
}

}  // namespace

std::unique_ptr<Run> OprTrial::before_epoch(std::unique_ptr<Run> run, const Log& log) {
  const int first = run->deck().probe.opr_trial.from_epoch.value_or(-1);
  if (!is_on()) {
    const bool is_due = !is_over_ && !run->finished() && run->deck().probe.opr_modes == 0 &&
                        first > 0 && run->n_epochs() == first;
    return is_due ? begun(std::move(run), log) : std::move(run);
  }
  if (run->n_epochs() < first + settings::OprTrial::n_epochs && !run->finished()) return run;
  const double error = run->history().back().error;
  const bool is_kept = error < enough(*steady_) * own_progress_ * error_;
  log.info(
      fmt::format("the beam, tried with probe.opr_modes = {}: the error is {:.6f} after {} "
                  "epochs, and was {:.6f}: {}",
                  settings::OprTrial::n_modes, error, settings::OprTrial::n_epochs, error_,
                  is_kept ? "it changes along the scan, and the modes stay" : "it is steady"));
  if (!is_kept) return given_up(std::move(run));
  steady_.reset();
  return run;
}

std::unique_ptr<Run> OprTrial::given_up(std::unique_ptr<Run> run) {
  is_over_ = true;
  return SavedRun(std::move(run)).go_on(*std::exchange(steady_, std::nullopt));
}

/// A run that has no room for the modes, on disk or in memory, goes on without.
std::unique_ptr<Run> OprTrial::begun(std::unique_ptr<Run> run, const Log& log) {
  const auto is_not_tried = [&](const AgreedError& error) {
    is_over_ = true;
    log.info(text("whether the beam changes along the scan is not tried: ", error.what()));
  };
  try {
    run->write_result(run->measure(), "running");
  } catch (const AgreedError& error) {
    is_not_tried(error);
    return run;
  }
  error_ = run->history().back().error;
  own_progress_ = own_progress(run->history());
  steady_ = run->deck();
  deck::Deck changing = *steady_;
  changing.probe.opr_modes = settings::OprTrial::n_modes;
  const SavedRun saved(std::move(run));
  try {
    run = saved.go_on(changing);
    // What has been fitted to the beam's changes hardly finds back by itself.
    run->put_fitted_back();
    return run;
  } catch (const AgreedError& error) {
    is_not_tried(error);
    return saved.go_on(*std::exchange(steady_, std::nullopt));
  }
}

}  // namespace tessera::run
