#include "run/run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "tessera/base/progress.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"
#include "tessera/physics/pattern_store.hpp"

#include "bad_patterns.hpp"
#include "figures.hpp"
#include "lost_positions.hpp"
#include "make_model.hpp"
#include "not_finite.hpp"
#include "recorded_batches.hpp"
#include "result_file.hpp"
#include "run/good_state.hpp"
#include "run/start.hpp"
#include "set_up.hpp"
#include "solvers/methods.hpp"
#include "stop_rules.hpp"
#include "stored_fields.hpp"
#include "worst_patterns.hpp"

namespace tessera::run {

namespace {

/// Over that of the residual: they wander, and positions with them. Found on a weak phase
/// (docs/methods/refinement.md).
constexpr double noise_of_kept_waves = 25;

}  // namespace

Run::Run(const deck::Deck& deck, const comm::Communicator& comm, const Log& log)
    : Run(deck, comm, load_scan(deck, scan_source(deck), comm, log), log) {}

Run::Run(const deck::Deck& deck, const comm::Communicator& comm, Scan scan, const Log& log,
         std::unique_ptr<halo::Transport> transport)
    : Run(deck, deck, comm, std::move(scan), log, std::move(transport)) {}

std::unique_ptr<Run> Run::on_new_tiles(std::unique_ptr<Run> run, const Log& log) {
  const deck::Deck& deck = run->deck_;
  const comm::Communicator& comm = run->comm_;
  run->write_result(run->measure(), "running");
  const RankTimes times = run->times();
  const io::ScanSource source = run->scan_.source;
  run.reset();
  deck::Deck from = deck;
  from.run.resume = deck.output.file;
  from.run.resume_fitted = true;
  std::unique_ptr<Run> next(
      new Run(deck, from, comm, load_scan(from, source, comm, Log(false)), Log(false), nullptr));
  next->earlier_ = times;
  log.info(text("positions have moved: new tiles after epoch ", next->n_epochs()));
  return next;
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
  refinement_ = std::make_unique<solvers::Refinement>(scan_.plan.refine, unknowns_, rank_.model,
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
      deck.constraints, constrained_tile(scan_), rank_.model.plan());
  figures_ = std::make_unique<Figures>(rank_.model, unknowns_, comm);
  errors_ = std::make_unique<PatternErrors>(scan_.tile().positions.size(),
                                            rank_.model.detector().sizes().model.chunk_size);
  lost_ = std::make_unique<LostPositions>(
      deck.refine.positions.from_epoch < 0 ? 0 : scan_.tile().positions.size());
  good_ = std::make_unique<GoodState>(state());
  good_->keep(exec_);
  good_epoch_ = n_epochs();
  if (deck.output.save_every_epochs > 0 || deck.output.save_every_minutes > 0) prepare_copies();
}

Run::~Run() = default;

/// The first save shall not stand still for longer than the others.
void Run::prepare_copies() {
  std::vector<std::size_t> sizes;
  for (const solvers::Fields& fields : {state(), memory()})
    for (const solvers::Field& field : fields)
      sizes.push_back(static_cast<std::size_t>(copy_bytes(scan_, field)));
  copies_.prepare(std::move(sizes));
}

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
  const bool goes_on = !history_.empty() && history_.back().stage == stage_;
  if (!goes_on || fields.empty()) return;
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
  least_cost_ = std::numeric_limits<double>::infinity();
  const deck::Solver& settings = scan_.plan.solvers[static_cast<std::size_t>(stage)];
  sweep_ = std::make_unique<solvers::Sweep>(set_up_sweep(settings, scan_, rank_));
  rank_.model.detector().set_noise(noise_from(settings.noise));
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

EpochFigures Run::run_epoch() {
  const device::Region region("epoch");
  const Kokkos::Timer timer;
  const Doing doing("an epoch");
  worst_.reset();
  start_stage(stage_of_next_epoch(deck_, history_));
  // A solver counts its own epochs; batches are drawn for those of the run.
  const int epoch = epochs_in_stage(history_, stage_);
  const deck::Solver& solver = scan_.plan.solvers[static_cast<std::size_t>(stage_)];
  const double counts_of_pixel = scan_.counts_per_pixel();
  const double counts_of_batch = solver.max_in_batch(scan_.n_fitted()) * counts_of_pixel;
  const bool keeps_waves = std::holds_alternative<settings::Projection>(solver.own);
  const double error_before = history_.empty() ? 0 : history_.back().error;
  refinement_->start_epoch(
      {.number = n_epochs(),
       .counts_of_batch = counts_of_batch,
       .positions_part = keeps_waves ? 0.5 : 1,
       .pixel_noise = (keeps_waves ? noise_of_kept_waves : 1) * error_before * counts_of_pixel});
  solver_->start_epoch(exec_, epoch);
  for (const solvers::Batch& batch : start_pass(n_epochs())) {
    run_batch(batch, epoch);
    rank_.transport->watch(exec_);
    if (save_) save_->advance();
  }
  solver_->finish_epoch(exec_, *sweep_, epoch);
  refinement_->finish_epoch(exec_, *sweep_);
  constraints_->apply(exec_, *sweep_, unknowns_, n_epochs());
  rank_.transport->wait(exec_);  // whatever else waits for the device knows no deadline
  const physics::FigureSums sums = take_sums();
  EpochFigures figures{sums.error(), sums.r_factor(), stage_};
  const bool validates = (n_epochs() + 1) % deck_.validation.every_epochs == 0;
  if (validates && !scan_.held_out.empty()) figures.validation_error = measure_held_out();
  keep_if_best(deck_.stop.validation_epochs > 0 ? figures.validation_error
                                                : sums[physics::FigureSums::cost]);
  history_.push_back(figures);
  if (looks_for_lost_positions()) send_lost_positions_back();
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
  for (int i = 1; i < solver_->n_refinements(); ++i) {
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

/// An epoch's cost is that of the states within it: one that rises, though little, may have ended
/// far from where it began.
void Run::keep_if_best(double cost) {
  if (!(cost <= least_cost_)) return;
  least_cost_ = cost;
  good_->keep(exec_);
  good_epoch_ = n_epochs() + 1;
}

void Run::go_back() {
  good_->put_back(exec_);
  history_.resize(static_cast<std::size_t>(good_epoch_));
  // What the solver remembers is of the epochs that failed.
  start_stage(std::exchange(stage_, -1));
}

bool Run::looks_for_lost_positions() const {
  const settings::RefinedPositions& positions = deck_.refine.positions;
  const int n_fitted = n_epochs() - positions.from_epoch;
  return positions.from_epoch >= 0 && positions.lost_ratio > 0 && positions.model == "free" &&
         n_fitted > 0 && n_fitted % LostPositions::every_epochs == 0 &&
         epochs_left(deck_, history_) >= LostPositions::epochs_to_return;
}

physics::FigureSums Run::measure_each(
    const std::function<void(const physics::Chunk&, std::span<const int>)>& look) {
  const std::span<const solvers::Batch> batches = start_pass(n_epochs());
  const std::span<const int> order = sweep_->pass().order;
  return figures_->measure(exec_, batches, [&](const physics::Chunk& chunk) {
    look(chunk, order.subspan(static_cast<std::size_t>(chunk.begin),
                              static_cast<std::size_t>(chunk.count)));
  });
}

void Run::look_at_errors() {
  errors_->clear();
  measure_each([&](const physics::Chunk& chunk, std::span<const int> positions) {
    errors_->look(exec_, rank_.model, chunk, positions);
  });
}

void Run::send_lost_positions_back() {
  look_at_errors();
  refinement_->send_back(exec_,
                         lost_->find(comm_, errors_->errors(), deck_.refine.positions.lost_ratio));
}

std::vector<int> Run::leave_out_bad_patterns() {
  if (!bad_patterns_are_due(deck_, n_epochs(), epochs_left(deck_, history_))) return {};
  const Kokkos::Timer timer;
  look_at_errors();
  std::vector<int> bad = find_bad_patterns(scan_, *errors_, comm_);
  if (!bad.empty()) {
    scan_.bad.insert(scan_.bad.end(), bad.begin(), bad.end());
    std::ranges::sort(scan_.bad);
    start_stage(std::exchange(stage_, -1));
  }
  epoch_seconds_ += timer.seconds();
  return bad;
}

EpochFigures Run::measure() {
  worst_ = std::make_unique<WorstPatterns>(scan_.info.pattern,
                                           rank_.model.detector().sizes().model.chunk_size,
                                           /*centres=*/!scan_.source.in_near_field);
  std::vector<int> of_scan;
  const physics::FigureSums sums =
      measure_each([&](const physics::Chunk& chunk, std::span<const int> positions) {
        of_scan.clear();
        for (const int local : positions)
          of_scan.push_back(scan_.tile().positions[static_cast<std::size_t>(local)]);
        worst_->look(exec_, rank_.model, chunk, of_scan);
      });
  worst_->agree(comm_);
  EpochFigures figures{sums.error(), sums.r_factor(), stage_};
  if (!scan_.held_out.empty()) figures.validation_error = measure_held_out();
  return figures;
}

double Run::measure_held_out() {
  const std::span<const solvers::Batch> held_out = sweep_->start_held_out();
  scan_.on_device.patterns->begin_pass(exec_, sweep_->pass());
  return figures_->measure(exec_, held_out).model_error();
}

ResultContents Run::contents(const EpochFigures& final_figures, const std::string& status) const {
  solvers::Fields remembered = memory();
  const bool is_large = std::ranges::any_of(remembered, &solvers::Field::is_large);
  if (is_large && !deck_.output.save_memory) remembered.clear();
  return {deck_,  scan_,      state(), std::move(remembered), stage_, history_, final_figures,
          status, finished(), times()};
}

std::int64_t Run::result_bytes() const {
  return ResultFile::bytes(contents({}, ""));
}

namespace {

void warn_of_save(const AgreedError& error, const Log& log) {
  log.warning(text("a save failed, and the run goes on: ", error.what()));
}

}  // namespace

void Run::check_output() const {
  const io::AtomicFile writable(deck_.output.file, result_bytes(), comm_);
}

void Run::write_result(const EpochFigures& final_figures, const std::string& status) {
  const Kokkos::Timer timer;
  const Doing doing("the write of the result");
  finish_save(Log(comm_.is_root()));
  ResultContents result = contents(final_figures, status);
  result.worst = worst_.get();
  save_ = ResultFile::begin_write(result, comm_, copies_);
  save_->finish();
  save_.reset();
  write_seconds_ += timer.seconds();
}

void Run::begin_save(const Log& log) {
  finish_save(log);
  const Kokkos::Timer timer;
  try {
    save_ = ResultFile::begin_write(contents(history_.back(), "running"), comm_, copies_);
  } catch (const AgreedError& error) {
    warn_of_save(error, log);
  }
  write_seconds_ += timer.seconds();
}

std::optional<double> Run::take_ended_save(const Log& log) {
  if (!save_ || comm_.any(!save_->is_over())) return {};
  const double seconds = save_->seconds();
  finish_save(log);
  return seconds;
}

void Run::finish_save(const Log& log) {
  if (!save_) return;
  const Kokkos::Timer timer;
  try {
    save_->finish();
  } catch (const AgreedError& error) {
    warn_of_save(error, log);
  }
  save_.reset();
  write_seconds_ += timer.seconds();
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
