#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fmt/core.h>
#include <unistd.h>

#include "tessera/base/text.hpp"
#include "tessera/comm/watchdog.hpp"
#include "tessera/io/hdf5.hpp"

#include "analysis/pictures.hpp"
#include "deck/check.hpp"
#include "report/report.hpp"
#include "run/doubts.hpp"
#include "run/requests.hpp"
#include "run/resumed_deck.hpp"
#include "run/run.hpp"
#include "run/start_device.hpp"
#include "stop_rules.hpp"
#include "summary.hpp"

namespace tessera::run {
namespace {

/// One line per epoch; on a terminal one that lives.
class Progress {
 public:
  Progress(bool speaks, const deck::Deck& deck, int n_positions)
      : speaks_(speaks),
        // Open MPI's mpirun gives its ranks a terminal of its own, wherever the output goes.
        on_terminal_(isatty(STDOUT_FILENO) != 0 && !std::getenv("OMPI_COMM_WORLD_SIZE")),
        deck_(deck),
        n_positions_(n_positions) {}

  void show(const std::vector<EpochFigures>& history, double epoch_seconds) {
    seconds_ += epoch_seconds;
    ++n_shown_;
    if (!speaks_) return;
    const EpochFigures& figures = history.back();
    const int epoch = static_cast<int>(history.size());
    const int n_left = epochs_left(deck_, history);
    constexpr int bar_width = 20;
    const int done = bar_width * epoch / (epoch + n_left);
    if (on_terminal_) fmt::print("\r[{:#<{}}{:.<{}}] ", "", done, "", bar_width - done);
    fmt::print("epoch {:>4}/{}", epoch, epoch + n_left);
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

  double seconds() const { return seconds_; }
  int n_shown() const { return n_shown_; }

 private:
  bool speaks_;
  bool on_terminal_;
  const deck::Deck& deck_;
  int n_positions_;
  double seconds_ = 0;
  int n_shown_ = 0;
};

/// "28, 516" for two solvers.
std::string batch_words(const Scan& scan) {
  std::vector<std::string> sizes;
  for (const int size : scan.batch_sizes()) sizes.push_back(std::to_string(size));
  return joined(sizes);
}

void describe(const Run& run, const comm::Communicator& comm) {
  if (!comm.is_root()) return;
  const Scan& scan = run.scan();
  const Shape2 object = scan.grid.object;
  fmt::print(
      "{} positions of {} x {} pixels, object {} x {} pixels of {:.4g} nm, {:.4g} counts per "
      "pattern\n{} tile{}, {} probe mode{}, batches of {}\n",
      scan.n_positions(), scan.info.pattern.h, scan.info.pattern.w, object.h, object.w,
      scan.grid.pixel_m * 1e9, scan.counts_per_pattern, comm.size(), comm.size() == 1 ? "" : "s",
      run.model().n_modes(), run.model().n_modes() == 1 ? "" : "s", batch_words(scan));
  std::fflush(stdout);
}

/// Better known before the run than after it.
void check_folder(const std::string& name, const std::string& path) {
  if (path.empty()) return;
  const std::string folder = std::filesystem::absolute(path).parent_path();
  if (!std::filesystem::is_directory(folder))
    throw InputError(text(name, " ", path, ": there is no folder \"", folder, "\"; make it first"));
}

/// The file that a link names, also one that is yet to be, so that a result takes its place and not
/// the link's. Collective.
std::string followed(std::string path, const comm::Communicator& comm) {
  namespace fs = std::filesystem;
  constexpr int max_links = 40;  // as Linux
  std::error_code unknown;
  for (int i = 0; comm.is_root() && i < max_links && fs::is_symlink(path, unknown); ++i)
    path = fs::path(path).parent_path() / fs::read_symlink(path, unknown);
  comm.broadcast(path);
  return path;
}

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
  /// `write` is what saves.
  template <class Write>
  void make(const Request& request, const Write& write) {
    const Kokkos::Timer timer;
    write();
    write_s_ = is_measured_ ? std::max(write_s_, timer.seconds()) : timer.seconds();
    is_measured_ = true;
    last_s_ = request.seconds;
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

constexpr const char* signal_status = "stopped by a signal";

/// Nothing is lost that a result could hold. Collective.
void leave_if_signalled(Requests& requests) {
  if (requests.agreed(0).signalled)
    throw AgreedError(ExitCode::interrupted,
                      text(signal_status, " before the first epoch; nothing is written"));
}

/// For an epoch, the figures of the result and its write, which others may slow down.
double room_s(double epoch_s, double write_s) {
  constexpr double slack_s = 10;
  return epoch_s + 2 * write_s + slack_s;
}

/// Epochs until all solvers have made theirs, or a stop rule, or a request. Returns the result's
/// status.
std::string run_epochs(std::unique_ptr<Run>& run, const deck::Deck& deck,
                       const comm::Communicator& comm, Requests& requests, Progress& progress) {
  Saves saves(deck.output, run->result_bytes());
  double longest_epoch_s = 0;
  while (!run->finished()) {
    const Kokkos::Timer timer;
    run->run_epoch();
    longest_epoch_s = std::max(longest_epoch_s, timer.seconds());
    progress.show(run->history(), timer.seconds());
    if (run->n_epochs() == 1) warn_of_start(*run, deck, Log(comm.is_root()));
    const Request request = requests.agreed(room_s(longest_epoch_s, saves.write_s()));
    if (request.signalled) return signal_status;
    if (request.stop) return text("stopped: asked to by ", deck.output.file, ".stop");
    const StopRule rule = ending_rule(deck.stop, run->history(), request.seconds);
    if (rule == StopRule::runaway) {
      run->go_back();
      return text(status_text(rule, deck.stop), ", back to epoch ", run->n_epochs());
    }
    if (rule != StopRule::none) return status_text(rule, deck.stop);
    if (run->finished()) break;
    if (request.job_ends) return "stopped: time (the job's, SLURM_JOB_END_TIME, is nearly over)";
    if (run->needs_new_tiles())
      saves.make(request, [&] { run = Run::on_new_tiles(std::move(run), Log(comm.is_root())); });
    else if (saves.are_due(request, run->n_epochs()))
      saves.make(request, [&] { run->write_result(run->measure(), "running"); });
  }
  return status_text(last_rule(deck, run->history()), deck.stop);
}

void draw_pictures(const deck::Deck& deck, const comm::Communicator& comm) {
  if (deck.output.pictures.empty()) return;
  comm.together([&] {
    if (!comm.is_root()) return;
    for (const std::string& path : analysis::write_pictures(deck.output.file, deck.output.pictures))
      fmt::print("picture {}\n", path);
  });
}

void write_report(const deck::Deck& deck, const comm::Communicator& comm) {
  if (deck.output.report.empty()) return;
  report::write({deck.output.file}, deck.output.report, comm);
  if (comm.is_root()) fmt::print("report {}\n", deck.output.report);
}

}  // namespace

ExitCode reconstruct(const deck::Deck& given, const comm::Communicator& comm,
                     const std::string& summary_path) {
  Requests requests(given.output, comm);  // to the end: a late signal must not lose the result
  comm.together([&] {
    deck::check_reconstruction(given);
    if (!comm.is_root()) return;
    check_folder("--summary", summary_path);
    check_folder("output.report", given.output.report);
    if (!given.output.report.empty()) report::check_plotting_library();
  });
  const comm::Watchdog watchdog(comm, given.decomposition.timeout_s, "decomposition.timeout_s");
  const auto runtime = start_device(comm, given.run.share_gpu);
  deck::Deck deck = resumed_deck(given, comm, Log(comm.is_root()));
  deck.output.file = followed(deck.output.file, comm);
  auto run = std::make_unique<Run>(deck, comm, Log(comm.is_root()));
  const io::OutputLock only_writer(deck.output.file, comm);
  run->check_output();
  describe(*run, comm);
  Progress progress(comm.is_root(), deck, run->scan().n_positions());
  leave_if_signalled(requests);
  RunOutcome outcome;
  try {
    outcome.status = run_epochs(run, deck, comm, requests, progress);
  } catch (const AgreedError& error) {
    if (error.exit_code() != ExitCode::not_finite) throw;
    run->write_result(run->measure(), std::string("stopped: ") + error.what());
    throw;
  }
  outcome.final_figures = run->measure();
  outcome.epoch_seconds = progress.seconds();
  outcome.n_epochs_run = progress.n_shown();
  run->write_result(outcome.final_figures, outcome.status);
  report_summary(*run, outcome, comm, summary_path);
  draw_pictures(deck, comm);
  write_report(deck, comm);
  if (comm.is_root()) fmt::print("result {}, {}\n", deck.output.file, outcome.status);
  return outcome.status == signal_status ? ExitCode::interrupted : ExitCode::done;
}

}  // namespace tessera::run
