#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <thread>
#include <tuple>

#include <fmt/core.h>

#include "tessera/base/progress.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"
#include "tessera/io/save.hpp"

#include "analysis/pictures.hpp"
#include "comm/watchdog.hpp"
#include "deck/check.hpp"
#include "epochs.hpp"
#include "halves.hpp"
#include "report/report.hpp"
#include "run/doubts.hpp"
#include "run/few_counts.hpp"
#include "run/going_on.hpp"
#include "run/requests.hpp"
#include "run/resumed_deck.hpp"
#include "run/run.hpp"
#include "run/start_device.hpp"
#include "summary.hpp"

namespace tessera::run {
namespace {

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

/// @throws AgreedError: something else than a result lies where it would. Collective.
void check_replaceable(const std::string& path, const std::string& key,
                       const comm::Communicator& comm) {
  comm.together([&] {
    if (comm.is_root())
      io::check_replaceable(path, key, [](const io::File& file) {
        return file.has("object") && file.has("probe") && file.has("history");
      });
  });
}

/// Of the two halves, to the result, the summary and the person. Collective.
/// @param is_whole the whole scan's run came to its end
void resolve(const deck::Deck& deck, const std::vector<EpochFigures>& history, bool is_whole,
             const comm::Communicator& comm, Requests& requests, nlohmann::json& summary) {
  if (!is_whole)
    return Log(comm.is_root()).info("validation.halves: the run was stopped, so there are none");
  const std::optional<Halves> halves = reconstruct_halves(deck, history, comm, requests);
  if (!halves) return;
  add_to_result(*halves, deck, comm);
  if (!comm.is_root()) return;
  for (const auto& [words, name, fraction] :
       {std::tuple("1 bit", "one_bit", halves->one_bit_fraction),
        std::tuple("1/2 bit", "half_bit", halves->half_bit_fraction)}) {
    if (fraction > 0)
      fmt::print("two halves agree, {:<7} to {}{:.3f} of Nyquist, half period {:.3g} m\n", words,
                 fraction >= 1 ? "at least " : "", fraction, halves->half_period_m(fraction));
    else
      fmt::print("two halves agree, {:<7} nowhere\n", words);
    summary["halves"][text(name, "_nyquist_fraction")] = fraction;
    summary["halves"][text(name, "_half_period_m")] = halves->half_period_m(fraction);
  }
}

/// Noise as the whole scan had it in its last epoch, steps, and its beam, OPR modes or none, as far
/// as decks say it: a half might settle them otherwise.
void keep_choices(const Run& run, deck::Deck& deck) {
  const StartBeam& beam = run.scan().beam;
  const bool in_near_field = run.scan().plan.optics.is_near_field();
  if (!in_near_field) deck.probe.defocus_m = beam.defocus_m;
  if (!in_near_field || beam.motion.correlation == 0) deck.probe.measure_curvature = false;
  deck.probe.opr_trial.from_epoch = -1;
  for (std::size_t stage = 0; stage < deck.solvers.size(); ++stage) {
    const deck::Solver& solver = run.scan().plan.solvers[stage];
    deck.solvers[stage].own = solver.own;
    // Stabilised amplitudes are no word of a deck: a half comes to them, or does not.
    const std::string last = noise_word(noise_of_last(run.history(), solver, run.scan()));
    deck.solvers[stage].noise = last.empty() ? solver.noise : last;
  }
}

/// `deck` goes on from its own result, if there is one. Returns whether nothing is left to do.
bool go_on(deck::Deck& deck, const comm::Communicator& comm) {
  const GoingOn found = find_going_on(deck, comm, Log(comm.is_root()));
  if (found.resume.empty()) return false;
  deck.run.resume = found.resume;
  fit_tiles(comm.size(), deck);
  return found.is_done;
}

ExitCode exit_code(const std::string& status, const Launch& launch) {
  const bool is_signalled = status == signal_status;
  if (launch.goes_on && (is_signalled || status == job_end_status)) return ExitCode::unfinished;
  return is_signalled ? ExitCode::interrupted : ExitCode::done;
}

/// Nothing is lost that a result could hold. Collective.
void leave_if_signalled(Requests& requests, const Launch& launch) {
  if (requests.signalled())
    throw AgreedError(exit_code(signal_status, launch),
                      text(signal_status, " before the first epoch; nothing is written"));
}

bool has_ended_early(const std::string& status) {
  return status == signal_status || status == job_end_status;
}

/// A run that came to its end with nothing to show for it says so, also to who reads the result.
void judge(RunOutcome& outcome, const deck::Deck& deck, const Scan& scan, const Log& log) {
  if (has_ended_early(outcome.status)) return;
  const std::string doubt = doubt_of_result(deck, scan, outcome.final_figures.error);
  if (doubt.empty()) return;
  log.warning(doubt);
  outcome.status += ", no better than an empty object";
}

/// It was there when the run began. Collective.
void make_folder_again(const std::string& path, const comm::Communicator& comm) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  std::error_code failed;  // the write will say so
  if (comm.is_root() && std::filesystem::create_directories(folder, failed))
    Log(true).warning(text("the folder \"", folder.string(), "\" was gone and is made again"));
}

/// Epochs are not lost to a disk that is full at their end: the write is tried again until that
/// time is over or a signal comes. Collective.
/// @return why it failed
std::optional<AgreedError> write_when_there_is_room(Run& run, const RunOutcome& outcome,
                                                    double patience_s,
                                                    const comm::Communicator& comm,
                                                    Requests& requests) {
  const deck::Deck& deck = run.deck();
  const double pause_s = std::min(5.0, deck.decomposition.timeout_s / 2);  // or the watchdog acts
  for (double waited_s = 0;; waited_s += pause_s) {
    try {
      make_folder_again(deck.output.file, comm);
      run.write_result(outcome.final_figures, outcome.status);
      return {};
    } catch (const AgreedError& error) {
      if (error.exit_code() != ExitCode::bad_input) throw;
      if (waited_s >= patience_s || requests.signalled()) return error;
      Log(comm.is_root())
          .warning(text(error.what(), "; tried again in ", pause_s, " s, for at most ", patience_s,
                        " s (decomposition.timeout_s)"));
    }
    note_progress();
    std::this_thread::sleep_for(std::chrono::duration<double>(pause_s));
  }
}

/// To output.file or, if that cannot be, to output.fallback, at once if the job may soon be killed.
/// Collective.
void write_result(Run& run, const RunOutcome& outcome, const comm::Communicator& comm,
                  Requests& requests) {
  const deck::Output& output = run.deck().output;
  const double timeout_s = run.deck().decomposition.timeout_s;
  const bool hurries = has_ended_early(outcome.status) && !output.fallback.empty();
  requests.forget_signals();  // another one ends the waiting
  const std::optional<AgreedError> failure =
      write_when_there_is_room(run, outcome, hurries ? 0 : timeout_s, comm, requests);
  if (!failure) return;
  if (output.fallback.empty()) throw *failure;
  Log(comm.is_root())
      .warning(text(failure->what(),
                    "; written to output.fallback instead: go on with tessera resume \"",
                    output.fallback, '"'));
  run.fall_back();
  const io::OutputLock only_writer(output.file, comm, timeout_s);
  run.write_result(outcome.final_figures, outcome.status);
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
                     const Launch& launch) {
  Requests requests(given.output, comm);  // to the end: a late signal must not lose the result
  comm.together([&] {
    deck::check_reconstruction(given);
    if (!comm.is_root()) return;
    check_folder("--summary", launch.summary_path);
    check_folder("output.report", given.output.report);
    check_folder("output.fallback", given.output.fallback);
    if (!given.output.report.empty()) report::check_plotting_library();
  });
  const comm::Watchdog watchdog(comm, given.decomposition.timeout_s, "decomposition.timeout_s");
  const device::EarlyStart meanwhile(comm.local_rank());
  deck::Deck asked = given;
  for (const auto& [key, path] : {std::pair("output.file", &asked.output.file),
                                  {"output.fallback", &asked.output.fallback}}) {
    *path = followed(*path, comm);
    check_replaceable(*path, key, comm);
  }
  std::unique_ptr<io::OutputLock> only_writer;
  if (launch.goes_on) {
    // Its last start, if it has lost a node, may take so long to end.
    only_writer =
        std::make_unique<io::OutputLock>(asked.output.file, comm, asked.decomposition.timeout_s);
    if (go_on(asked, comm)) return ExitCode::done;
  }
  deck::Deck deck = resumed_deck(asked, comm, Log(comm.is_root()));
  std::unique_ptr<device::Runtime> runtime;  // outlives all that is on the device
  std::unique_ptr<Run> run;
  {
    const NothingToSave until_there_is_a_run(requests.signals(), exit_code(signal_status, launch));
    const Log log(comm.is_root());
    SeenScan seen = look_at_scan(deck, scan_source(deck), comm, log);
    runtime = start_device(comm, deck.run.share_gpu);
    run = std::make_unique<Run>(deck, comm, std::move(seen), log);
  }
  if (!only_writer) only_writer = std::make_unique<io::OutputLock>(deck.output.file, comm);
  run->check_output();
  describe(*run, comm);
  Progress progress(comm.is_root(), deck, run->scan().n_positions());
  leave_if_signalled(requests, launch);
  RunOutcome outcome;
  try {
    outcome.status = run_epochs(run, deck, comm, requests, progress);
  } catch (const AgreedError& error) {
    if (error.exit_code() != ExitCode::not_finite) throw;
    run->write_result(run->measure(), std::string("stopped: ") + error.what());
    throw;
  }
  outcome.final_figures = run->measure();
  const ExitCode code = exit_code(outcome.status, launch);
  judge(outcome, deck, run->scan(), Log(comm.is_root()));
  outcome.epoch_seconds = progress.seconds();
  outcome.n_epochs_run = progress.n_shown();
  write_result(*run, outcome, comm, requests);
  deck = run->deck();  // output.file is where the result is
  nlohmann::json summary = report_summary(*run, outcome, comm);
  if (deck.validation.halves) {
    keep_choices(*run, deck);
    const bool is_whole = run->finished();
    const std::vector<EpochFigures> history = run->history();
    run.reset();
    resolve(deck, history, is_whole, comm, requests, summary);
  }
  write_summary(summary, launch.summary_path, comm);
  draw_pictures(deck, comm);
  write_report(deck, comm);
  if (comm.is_root()) fmt::print("result {}, {}\n", printable(deck.output.file), outcome.status);
  return code;
}

}  // namespace tessera::run
