#include "run/run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tessera/base/progress.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"
#include "tessera/physics/pattern_store.hpp"

#include "beam_trial.hpp"
#include "figures.hpp"
#include "make_model.hpp"
#include "not_finite.hpp"
#include "recorded_batches.hpp"
#include "result_file.hpp"
#include "run/few_counts.hpp"
#include "run/good_state.hpp"
#include "run/pattern_errors.hpp"
#include "run/start.hpp"
#include "set_up.hpp"
#include "solvers/methods.hpp"
#include "stop_rules.hpp"
#include "worst_patterns.hpp"

namespace tessera::run {

namespace {

/// Over that of the residual: they wander, and positions with them. Found on a weak phase
/// (docs/methods/refinement.md).
constexpr double noise_of_kept_waves = 4;

}  // namespace

Run::Run(const deck::Deck& deck, const comm::Communicator& comm, const Log& log)
    : Run(deck, comm, scan_source(deck), log) {}

Run::Run(const deck::Deck& deck, const comm::Communicator& comm, const io::ScanSource& source,
         const Log& log)
    : Run(deck, comm, look_at_scan(deck, source, comm, log), log) {}

Run::Run(const deck::Deck& deck, const comm::Communicator& comm, SeenScan seen, const Log& log)
    : Run(deck, comm, settle_beam(deck, comm, load_scan(deck, std::move(seen), comm, log), log),
          log) {}

Run::Run(const deck::Deck& deck, const comm::Communicator& comm, RunParts parts, const Log& log)
    : Run(deck, comm, std::move(parts.scan), log, std::move(parts.transport)) {}

Run::Run(const deck::Deck& deck, const comm::Communicator& comm, Scan scan, const Log& log,
         std::unique_ptr<halo::Transport> transport)
    : Run(deck, deck, comm, std::move(scan), log, std::move(transport)) {}

SavedRun::SavedRun(std::unique_ptr<Run> run)
    : comm_(run->comm_), source_(run->scan_.source), times_(run->times()) {}

std::unique_ptr<Run> SavedRun::go_on(const deck::Deck& deck) const {
  deck::Deck from = deck;
  from.run.resume = deck.output.file;
  from.run.resume_fitted = true;
  std::unique_ptr<Run> run(
      new Run(deck, from, comm_, load_scan(from, source_, comm_, Log(false)), Log(false), nullptr));
  run->earlier_ = times_;
  return run;
}

std::unique_ptr<Run> Run::on_new_tiles(std::unique_ptr<Run> run, const Log& log) {
  run->write_result(run->measure(), "running");
  const deck::Deck deck = run->deck_;
  std::unique_ptr<Run> next = SavedRun(std::move(run)).go_on(deck);
  log.info(text("positions have moved: new tiles after epoch ", next->n_epochs()));
  return next;
}

RunParts Run::take_apart(std::unique_ptr<Run> run) {
  run->exec_.fence();
  return {std::move(run->scan_), std::move(run->rank_.transport)};
}

Run::Run(const deck::Deck& deck, const deck::Deck& from, const comm::Communicator& comm, Scan scan,
         const Log& log, std::unique_ptr<halo::Transport> transport)
    : deck_(deck),
      comm_(comm),
      scan_(std::move(scan)),
      unknowns_{.object = {}, .probe = {}, .parameters = start_parameters(deck, scan_)},
      rank_(set_up_rank(deck, scan_, unknowns_.parameters, comm, std::move(transport), log)) {
  Start start = make_start(from, scan_, comm);
  scan_.moments = {};  // it was all that they were read for
  unknowns_.object = start.unknowns.object;
  unknowns_.probe = start.unknowns.probe;
  refinement_ = std::make_unique<solvers::Refinement>(deck.refine, unknowns_, rank_.model,
                                                      moving_positions(deck, scan_));
  history_ = std::move(start.history);
  history_.reserve(history_.size() + static_cast<std::size_t>(epochs_left(deck, history_)));
  start_stage(stage_of_next_epoch(deck, history_));
  if (!from.run.resume.empty()) {
    const ResultFile result(from.run.resume, comm);
    if (from.run.resume_fitted)
      result.read(scan_, solvers::named("parameters/", refinement_->parameters()));
    if (scan_.same_windows)
      result.read(scan_, solvers::named("parameters/", refinement_->windows()));
    recall(result, log);
  }
  check_start(from);
  constraints_ = std::make_unique<solvers::ConstraintList>(
      deck_.constraints, constrained_tile(scan_, unknowns_.parameters), rank_.model.plan());
  figures_ = std::make_unique<Figures>(rank_.model, unknowns_, comm);
  errors_ = std::make_unique<PatternErrors>(scan_.tile().positions.size(),
                                            rank_.model.detector().sizes().model.chunk_size);
  good_ = std::make_unique<GoodState>(state(), exec_, n_epochs());
  if (deck.output.save_every_epochs > 0 || deck.output.save_every_minutes > 0) prepare_copies();
}

Run::~Run() = default;

solvers::Fields Run::state() const {
  using solvers::Lives;
  solvers::Fields fields{solvers::field("object", Lives::object, unknowns_.object),
                         solvers::field("probe", Lives::probe, unknowns_.probe)};
  append(fields, solvers::named("parameters/", refinement_->parameters()));
  append(fields, solvers::named("parameters/", refinement_->windows()));
  return fields;
}

solvers::Fields Run::memory() const {
  return solvers::named("memory/", solver_->memory());
}

void Run::recall(const ResultFile& result, const Log& log) {
  const solvers::Fields fields = memory();
  if (history_.empty() || history_.back().stage != stage_ || fields.empty()) return;
  const deck::Solver& solver = scan_.plan.solvers[static_cast<std::size_t>(stage_)];
  const bool adapts = noise_of_last(history_, solver, scan_) != rank_.model.detector().noise();
  if (adapts) return;  // the solver begins anew, as in `adapt_noise`
  const std::string& method = deck_.solvers[static_cast<std::size_t>(stage_)].method;
  const MemoryOwner owner = result.memory_owner();
  if (owner.stage == stage_ && owner.method == method && result.holds(scan_, fields))
    return result.read(scan_, fields);
  const std::string held =
      owner.stage < 0
          ? "no memory"
          : text("the memory of ", owner.method == method ? "another " : "", owner.method);
  const bool is_large = std::ranges::any_of(fields, &solvers::Field::is_large);
  log.info(text("run.resume: the result holds ", held, ", and ", method,
                " starts anew from object and probe",
                is_large ? " (output.save_memory = true keeps its waves)" : ""));
}

void Run::check_start(const deck::Deck& from) const {
  const bool resumed = !from.run.resume.empty();
  if (!resumed && from.object.initial != "file") return;
  const std::string where = where_not_finite(scan_, state(), comm_);
  if (!where.empty())
    throw AgreedError(
        ExitCode::bad_input,
        text(resumed ? "run.resume" : "object.file", ": ", where, " is not finite in '",
             resumed ? from.run.resume : from.object.file, "'; start from a sound result"));
}

bool Run::finished() const {
  return stage_of_next_epoch(deck_, history_) == std::ssize(deck_.solvers);
}

void Run::start_stage(int stage) {
  stage = std::min(stage, static_cast<int>(deck_.solvers.size()) - 1);
  if (stage == stage_) return;
  exec_.fence();
  if (sweep_) past_reduce_seconds_ += sweep_->reduce_seconds();
  recorded_.reset();
  solver_.reset();
  sweep_.reset();
  stage_ = stage;
  if (good_) good_->forget_cost();
  last_cost_ = 0;
  const deck::Solver& settings = scan_.plan.solvers[static_cast<std::size_t>(stage)];
  sweep_ = std::make_unique<solvers::Sweep>(set_up_sweep(settings, scan_, rank_));
  rank_.model.detector().set_noise(noise_after(history_, settings, scan_));
  rank_.model.detector().set_dark_amplitude(dark_amplitude(deck_, settings, scan_));
  const decomposition::Tile& tile = scan_.tile();
  solver_ = solvers::make_solver(settings, unknowns_, rank_.model, {tile.ghosted, tile.owned});
  recorded_ = std::make_unique<RecordedBatches>(n_recordable(), rank_.halo);
}

/// Batches of the stage that can be recorded: all or none.
int Run::n_recordable() const {
  // A graph takes some ten kilobytes.
  constexpr int max_graphs = 4096;
  const bool reduces_alone = comm_.size() == 1 || rank_.transport->recordable();
  const bool all = sweep_->fixed_batches() && sweep_->n_batches() <= max_graphs &&
                   rank_.halo.recordable() && reduces_alone && scan_.on_device.patterns->stays();
  return all ? sweep_->n_batches() : 0;
}

bool Run::needs_new_tiles() const {
  std::array<double, 1> drift_px{refinement_->max_drift_px(exec_)};
  comm_.maximum(drift_px);
  return tiles_are_due(deck_.refine, drift_px[0]);
}

std::span<const solvers::Batch> Run::start_pass(int epoch) {
  const std::span<const solvers::Batch> batches = sweep_->start_epoch(exec_, epoch);
  scan_.on_device.patterns->begin_pass(exec_, sweep_->pass());
  return batches;
}

std::span<const solvers::Batch> Run::start_pass_over(std::span<const int> positions) {
  const std::span<const solvers::Batch> batches = sweep_->start_chosen(exec_, positions);
  scan_.on_device.patterns->begin_pass(exec_, sweep_->pass());
  return batches;
}

EpochFigures Run::run_epoch() {
  const device::Region region("epoch");
  const Kokkos::Timer timer;
  const Doing doing("an epoch");
  worst_.reset();
  start_stage(stage_of_next_epoch(deck_, history_));
  // A solver counts its own epochs; batches are drawn for those of the run.
  const int epoch = epochs_in_stage(history_, stage_);
  const deck::Solver& solver = scan_.plan.solvers[static_cast<std::size_t>(stage_)];
  const double error_before = history_.empty() ? 0 : history_.back().error;
  refinement_->start_epoch({.number = n_epochs(),
                            .counts_of_scan = scan_.n_fitted() * counts_of(scan_),
                            .keeps_waves = keeps_waves(solver),
                            .pixel_noise = (keeps_waves(solver) ? noise_of_kept_waves : 1) *
                                           error_before * scan_.counts_per_pattern /
                                           scan_.lit_pixels});
  solver_->start_epoch(exec_, epoch);
  for (const solvers::Batch& batch : start_pass(n_epochs())) {
    run_batch(batch, epoch);
    rank_.transport->watch(exec_);
    if (save_) save_->advance();
  }
  solver_->finish_epoch(exec_, *sweep_, epoch);
  refinement_->finish_epoch(exec_, *sweep_);
  if (deck_.constraints.change_intensities(n_epochs())) solver_->expect_constraints(exec_);
  constraints_->apply(exec_, *sweep_, unknowns_, n_epochs());
  rank_.transport->wait(exec_);  // whatever else waits for the device knows no deadline
  const physics::FigureSums sums = take_sums();
  EpochFigures figures{.error = sums.error(), .r_factor = sums.r_factor(), .stage = stage_};
  figures.noise = rank_.model.detector().noise();
  const bool validates = (n_epochs() + 1) % deck_.validation.every_epochs == 0;
  if (validates && !scan_.held_out.empty()) figures.validation_error = measure_held_out();
  history_.push_back(figures);
  keep_best(sums[physics::FigureSums::cost]);
  if (looks_for_lost_positions()) find_lost_positions();
  epoch_seconds_ += timer.seconds();
  return history_.back();
}

void Run::run_batch(const solvers::Batch& batch, int epoch) {
  const Doing doing("a batch");
  const auto work = [&] { solver_->run_batch(exec_, *sweep_, batch, epoch); };
  if (!refinement_->is_active())
    return recorded_->run(exec_, batch.id, solver_->repeats_from(epoch), work);
  work();
  refinement_->update(exec_, *sweep_);
  if (!solver_->goes_far()) return;
  for (int i = 1; i < refinement_->n_steps(); ++i) {
    solver_->add_slopes(exec_, *sweep_, batch);
    refinement_->update(exec_, *sweep_);
  }
}

physics::FigureSums Run::take_sums() {
  const auto sums = figures_->of_epoch(exec_, *solver_);
  if (!sums) {
    std::string where = where_not_finite(scan_, state(), comm_);
    if (where.empty()) where = "an inner product";
    const int failed = n_epochs() + 1;
    go_back();
    throw AgreedError(
        ExitCode::not_finite,
        text(where, " is not finite after epoch ", failed, "; ",
             remedy_for(deck_.solvers[static_cast<std::size_t>(stage_)]), " keep it in bounds"));
  }
  return *sums;
}

/// An epoch's cost is that of the states within it: those at both its ends may be worse. So a state
/// is judged by the epochs before and after it. Costs by another noise do not compare: behind a
/// change the first is the least, though its state may be far worse than the one kept before.
void Run::keep_best(double cost) {
  const double of_both = std::max(std::exchange(last_cost_, cost), cost);
  const bool is_near = is_near_lowest(history_);
  const bool by_validation = deck_.stop.validation_epochs > 0;
  if (is_near && !by_validation) good_->judge(of_both);
  good_->keep(exec_, n_epochs());
  if (is_near && by_validation) good_->judge(history_.back().validation_error);
}

void Run::go_back() {
  history_.resize(static_cast<std::size_t>(good_->put_back(exec_)));
  // What the solver remembers is of the epochs that failed.
  start_stage(std::exchange(stage_, -1));
}

RankTimes Run::times() const {
  const double halo_s = rank_.halo.statistics().seconds;
  const double reduce_s = past_reduce_seconds_ + sweep_->reduce_seconds();
  const auto pattern_bytes = static_cast<double>(scan_.pattern_bytes_read);
  return {
      .compute_s = earlier_.compute_s + epoch_seconds_ - halo_s - reduce_s,
      .halo_s = earlier_.halo_s + halo_s,
      .reduce_s = earlier_.reduce_s + reduce_s,
      .io_s = earlier_.io_s + scan_.read_seconds + write_seconds_,
      .halo_bytes = earlier_.halo_bytes + static_cast<double>(rank_.halo.statistics().bytes_sent),
      .halo_messages =
          earlier_.halo_messages + static_cast<double>(rank_.halo.statistics().messages_sent),
      .pattern_bytes_read = earlier_.pattern_bytes_read + pattern_bytes};
}

}  // namespace tessera::run
