#include "epochs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

#include "tessera/base/text.hpp"

#include "run/doubts.hpp"
#include "run/opr_trial.hpp"
#include "stop_rules.hpp"

namespace tessera::run {

Progress::Progress(bool speaks, const deck::Deck& deck, int n_positions, std::string name)
    : speaks_(speaks),
      // Open MPI's mpirun gives its ranks a terminal of its own, wherever the output goes.
      on_terminal_(isatty(STDOUT_FILENO) != 0 && !std::getenv("OMPI_COMM_WORLD_SIZE")),
      deck_(deck),
      n_positions_(n_positions),
      name_(std::move(name)) {}

void Progress::show(const std::vector<EpochFigures>& history, double epoch_seconds) {
  seconds_ += epoch_seconds;
  ++n_shown_;
  if (!speaks_) return;
  const EpochFigures& figures = history.back();
  const int epoch = static_cast<int>(history.size());
  const int n_left = epochs_left(deck_, history);
  constexpr int bar_width = 20;
  const int done = bar_width * epoch / (epoch + n_left);
  if (on_terminal_) fmt::print("\r[{:#<{}}{:.<{}}] ", "", done, "", bar_width - done);
  fmt::print("{}epoch {:>4}/{}", name_, epoch, epoch + n_left);
  if (deck_.solvers.size() > 1)
    fmt::print("  {}", deck_.solvers[static_cast<std::size_t>(figures.stage)].method);
  fmt::print("  error {:.6f}", figures.error);
  if (std::isfinite(figures.validation_error))
    fmt::print("  validation {:.6f}", figures.validation_error);
  fmt::print("  r_factor {:.5f}  {:.3f} s  {:.0f} positions/s  left {:.0f} s{}", figures.r_factor,
             epoch_seconds, n_positions_ / epoch_seconds, seconds_ / n_shown_ * n_left,
             on_terminal_ && n_left > 0 ? "\x1b[K" : "\n");
  std::fflush(stdout);
}

namespace {

/// States saved on the way: when, and how long one takes.
class Saves {
 public:
  Saves(const deck::Output& output, std::int64_t result_bytes)
      : output_(output), write_s_(static_cast<double>(result_bytes) / presumed_bytes_per_s) {}

  bool are_due(const Request& request, int n_epochs) const {
    const int epochs = output_.save_every_epochs;
    const double minutes = output_.save_every_minutes;
    return request.save || (epochs > 0 && n_epochs % epochs == 0) ||
           (minutes > 0 && request.seconds - last_s_ >= 60 * minutes);
  }
  void have_begun(const Request& request) { last_s_ = request.seconds; }
  void have_taken(double seconds) {
    write_s_ = is_measured_ ? std::max(write_s_, seconds) : seconds;
    is_measured_ = true;
  }
  double write_s() const { return write_s_; }

 private:
  static constexpr double presumed_bytes_per_s = 1e8;

  const deck::Output& output_;
  double write_s_;  ///< the longest, with the figures that go with it
  bool is_measured_ = false;
  double last_s_ = 0;
};

void warn_of_start(const Run& run, const deck::Deck& deck, const Log& log) {
  const std::string doubt = doubt_of_start(deck, run.scan(), run.history().front().error);
  if (!doubt.empty()) log.warning(doubt);
}

/// For an epoch, the figures of the result and its write, which others may slow down.
double room_s(double epoch_s, double write_s) {
  constexpr double slack_s = 10;
  return epoch_s + 2 * write_s + slack_s;
}

/// Whether it was made; one that is not finite ends a trial only.
bool made_epoch(Run& run, const OprTrial& trial) {
  try {
    run.run_epoch();
    return true;
  } catch (const AgreedError& error) {
    if (!trial.is_on() || error.exit_code() != ExitCode::not_finite) throw;
    return false;
  }
}

}  // namespace

std::string run_epochs(std::unique_ptr<Run>& run, const deck::Deck& deck,
                       const comm::Communicator& comm, Requests& requests, Progress& progress) {
  const Log log(comm.is_root());
  Saves saves(deck.output, run->result_bytes());
  double longest_epoch_s = 0;
  OprTrial trial;
  // An end that comes amid the trial is that of the run behind it.
  const auto ended = [&](std::string status) {
    if (trial.is_on()) run = trial.given_up(std::move(run));
    return status;
  };
  for (;;) {
    run = trial.before_epoch(std::move(run), log);
    if (run->finished()) break;
    // Before an epoch, not behind one that may be the last: who resumes looks, too.
    if (const std::vector<int> bad = run->leave_out_bad_patterns(); !bad.empty())
      log.warning(doubt_of_patterns(bad));
    if (const std::optional<physics::Noise> noise = run->adapt_noise()) {
      const std::string word = noise_word(*noise);
      log.info(
          text("the error is hardly more than Poisson's noise alone leaves: ",
               word.empty() ? "amplitudes are stabilised" : text("solver.noise is \"", word, '"'),
               " after epoch ", run->n_epochs()));
    }
    const Kokkos::Timer timer;
    if (!made_epoch(*run, trial)) {
      run = trial.given_up(std::move(run));
      continue;
    }
    longest_epoch_s = std::max(longest_epoch_s, timer.seconds());
    progress.show(run->history(), timer.seconds());
    if (run->n_epochs() == 1) warn_of_start(*run, deck, log);
    const Request request = requests.agreed(room_s(longest_epoch_s, saves.write_s()));
    if (request.signalled) return ended(signal_status);
    if (request.stop) return ended(text("stopped: asked to by ", deck.output.file, ".stop"));
    const StopRule rule = ending_rule(deck, run->history(), request.seconds);
    if (rule == StopRule::runaway || rule == StopRule::validation) {
      if (trial.is_on()) {
        run = trial.given_up(std::move(run));
        continue;
      }
      run->go_back();
      return text(status_text(rule, deck.stop), ", back to epoch ", run->n_epochs());
    }
    if (rule != StopRule::none) return ended(status_text(rule, deck.stop));
    if (run->finished()) continue;
    if (request.job_ends) return ended(job_end_status);
    if (const std::optional<double> seconds = run->take_ended_save(log)) saves.have_taken(*seconds);
    if (trial.is_on()) continue;
    const bool moves = run->needs_new_tiles();
    if (!moves && !saves.are_due(request, run->n_epochs())) continue;
    saves.have_begun(request);
    if (moves)
      run = Run::on_new_tiles(std::move(run), log);
    else
      run->begin_save(log);
  }
  return status_text(last_rule(deck, run->history()), deck.stop);
}

}  // namespace tessera::run
