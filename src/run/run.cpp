#include "tessera/run/run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tessera/base/text.hpp"
#include "tessera/halo/choose_transport.hpp"
#include "tessera/io/hdf5.hpp"
#include "tessera/physics/pattern_store.hpp"
#include "tessera/solvers/methods.hpp"

#include "make_model.hpp"
#include "not_finite.hpp"
#include "result_file.hpp"
#include "stop_rules.hpp"

namespace tessera::run {
namespace {

decomposition::BatchSchedule batch_schedule(const deck::Solver& solver, const Scan& scan) {
  return {scan.fitted, scan.grid.corner, solver.batch_size,
          decomposition::batch_order_from(solver.batch_order), solver.seed};
}

/// What a Sweep is told lies here as long as it is being made.
struct ScanReach {
  std::vector<Pixel> corner;  ///< of the pixels that a position's windows may ever reach
  std::vector<Vec2> subpixel;
  solvers::ScanShare share;
};

ScanReach scan_reach(const Scan& scan) {
  ScanReach reach{scan.corner, scan.grid.subpixel, {}};
  // Probes of positions' own are not shared by shift.
  if (scan.plan.model.own_probes) std::fill(reach.subpixel.begin(), reach.subpixel.end(), Vec2{});
  decomposition::Tiling tiling = scan.tiling;
  tiling.window = {tiling.window.h + 2 * scan.plan.reach_px,
                   tiling.window.w + 2 * scan.plan.reach_px};
  // What lies beyond the object no window reaches.
  for (Pixel& corner : reach.corner)
    corner = {std::clamp(corner.y - scan.plan.reach_px, 0, scan.grid.object.h - tiling.window.h),
              std::clamp(corner.x - scan.plan.reach_px, 0, scan.grid.object.w - tiling.window.w)};
  reach.share = {.positions = scan.tile().positions,
                 .on_border = decomposition::touches_ghosts(tiling, scan.rank, reach.corner),
                 .corner = reach.corner,
                 .subpixel = reach.subpixel,
                 .window = tiling.window,
                 .ghosted = scan.tile().ghosted,
                 .held_out = scan.held_out};
  return reach;
}

std::unique_ptr<halo::Transport> make_transport(const deck::Deck& deck, const Scan& scan,
                                                const comm::Communicator& comm, const Log& log) {
  const decomposition::HaloPlan plan = decomposition::make_halo_plan(scan.tiling, comm.rank());
  const std::int64_t n_summed_reals =
      (2 * scan.plan.n_probe_images() + 1) * scan.info.pattern.size();
  return halo::choose_transport(deck.decomposition.transport, comm,
                                deck.decomposition.transport_timeout_s,
                                {plan, scan.plan.max_reals_per_pixel, n_summed_reals}, log);
}

/// @param scan of which corners are used as long as this lives
solvers::ConstrainedTile constrained_tile(const Scan& scan) {
  return {.owned = scan.tile().owned,
          .ghosted = scan.tile().ghosted,
          .object = scan.grid.object,
          .window = scan.grid.window,
          .n_slices = scan.plan.model.n_slices,
          .n_probe_modes = scan.plan.model.n_modes,
          .n_probe_images = scan.plan.n_probe_images(),
          .counts_per_pattern = scan.counts_per_pattern,
          .corner = scan.grid.corner};
}

/// What an epoch leaves on the device for the host, in doubles.
struct EpochSums {
  /// Behind physics::FigureSums: <object, object>, re and im.
  static constexpr int object = physics::FigureSums::n_sums;
  static constexpr int probe = object + 2;
  static constexpr int n = probe + 2;
};

}  // namespace

Run::Run(const deck::Deck& deck, const comm::Communicator& comm, const Log& log)
    : Run(deck, comm, load_scan(deck, comm, log), log) {}

Run::Run(const deck::Deck& deck, const comm::Communicator& comm, Scan scan, const Log& log,
         std::unique_ptr<halo::Transport> transport)
    : Run(deck, deck, comm, std::move(scan), log, std::move(transport)) {}

std::unique_ptr<Run> Run::on_new_tiles(std::unique_ptr<Run> run, const Log& log) {
  const deck::Deck& deck = run->deck_;
  const comm::Communicator& comm = run->comm_;
  run->write_result(run->measure(), "running");
  const RankTimes times = run->times();
  run.reset();
  deck::Deck from = deck;
  from.run.resume = deck.output.file;
  std::unique_ptr<Run> next(
      new Run(deck, from, comm, load_scan(from, comm, Log(false)), Log(false), nullptr));
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
      transport_(transport ? std::move(transport) : make_transport(deck, scan_, comm, log)),
      halo_(decomposition::make_halo_plan(scan_.tiling, comm.rank()),
            scan_.plan.max_reals_per_pixel, *transport_),
      model_(scan_.on_device, unknowns_.parameters, scan_.plan.model),
      epoch_sums_("tessera::run::epoch_sums", EpochSums::n),
      host_epoch_sums_("tessera::run::host_epoch_sums", EpochSums::n) {
  Start start = make_start(from, scan_, comm);
  unknowns_.object = start.unknowns.object;
  unknowns_.probe = start.unknowns.probe;
  refinement_ = std::make_unique<solvers::Refinement>(deck.refine, unknowns_, model_,
                                                      moving_positions(deck, scan_));
  history_ = std::move(start.history);
  history_.reserve(history_.size() + static_cast<std::size_t>(epochs_left(deck, history_)));
  start_stage(stage_of_next_epoch(deck, history_));
  if (!from.run.resume.empty()) {
    const ResultFile result(from.run.resume, comm);
    result.read(scan_, solvers::named("parameters/", refinement_->parameters()));
    if (scan_.same_windows)
      result.read(scan_, solvers::named("parameters/", refinement_->windows()));
    recall(result, log);
  }
  constraints_ = std::make_unique<solvers::Constraints>(deck.constraints, constrained_tile(scan_),
                                                        model_.plan());
  good_ = std::make_unique<GoodState>(state());
  good_->keep(exec_);
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

bool Run::finished() const {
  return stage_of_next_epoch(deck_, history_) == std::ssize(deck_.solvers);
}

void Run::start_stage(int stage) {
  stage = std::min(stage, static_cast<int>(deck_.solvers.size()) - 1);
  if (stage == stage_) return;
  exec_.fence();
  if (sweep_) past_reduce_seconds_ += sweep_->reduce_seconds();
  recorded_.clear();
  solver_.reset();
  sweep_.reset();
  stage_ = stage;
  const deck::Solver& settings = deck_.solvers[static_cast<std::size_t>(stage)];
  sweep_ = std::make_unique<solvers::Sweep>(
      batch_schedule(settings, scan_), scan_reach(scan_).share, model_.chunk_size(),
      model_.max_slots(), scan_.on_device, halo_, *transport_);
  model_.detector().set_noise(noise_from(settings.noise));
  const decomposition::Tile& tile = scan_.tile();
  solver_ = solvers::make_solver(settings, unknowns_, model_, {tile.ghosted, tile.owned});
  // A graph takes some ten kilobytes.
  constexpr int most_graphs = 4096;
  if (sweep_->fixed_batches() && sweep_->n_batches() <= most_graphs && halo_.recordable() &&
      (comm_.size() == 1 || transport_->recordable()) && scan_.on_device.patterns->stays())
    recorded_.resize(static_cast<std::size_t>(sweep_->n_batches()));
}

bool Run::needs_new_tiles() const {
  std::array<double, 1> drift_px{refinement_->greatest_drift_px(exec_)};
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
  start_stage(stage_of_next_epoch(deck_, history_));
  // A solver counts its own epochs; batches are drawn for those of the run.
  const int epoch = epochs_in_stage(history_, stage_);
  refinement_->start_epoch(n_epochs());
  solver_->start_epoch(exec_, epoch);
  for (const solvers::Batch& batch : start_pass(n_epochs())) {
    run_batch(batch, epoch);
    transport_->watch(exec_);
  }
  solver_->finish_epoch(exec_, *sweep_, epoch);
  refinement_->finish_epoch(exec_, *sweep_);
  constraints_->apply(exec_, *sweep_, unknowns_, n_epochs());
  transport_->wait(exec_);  // whatever else waits for the device knows no deadline
  EpochFigures figures = take_figures();
  figures.stage = stage_;
  const bool validates = (n_epochs() + 1) % deck_.validation.every_epochs == 0;
  if (validates && !scan_.held_out.empty()) figures.validation_error = measure_held_out();
  history_.push_back(figures);
  epoch_seconds_ += timer.seconds();
  return history_.back();
}

/// The first time that a batch runs its kernels are launched one by one, which may allocate, and
/// then recorded; from then on it is one launch.
void Run::run_batch(const solvers::Batch& batch, int epoch) {
  const halo::HaloStatistics before = halo_.statistics();
  const bool records = !recorded_.empty() && !refinement_->is_active();
  Recorded* recorded = records ? &recorded_[static_cast<std::size_t>(batch.id)] : nullptr;
  if (recorded && recorded->work.recorded() && device::graphs_pay()) {
    recorded->work.launch(exec_);
    halo_.restore(before + recorded->traffic);
    return;
  }
  solver_->run_batch(exec_, *sweep_, batch, epoch);
  if (refinement_->is_active()) refinement_->update(exec_, *sweep_);
  if (!recorded || !solver_->repeats_from(epoch) || !device::graphs_pay()) return;
  const halo::HaloStatistics after = halo_.statistics();
  recorded->work.record(exec_, [&] { solver_->run_batch(exec_, *sweep_, batch, epoch); });
  recorded->traffic = {0, after.bytes_sent - before.bytes_sent,
                       after.messages_sent - before.messages_sent};
  halo_.restore(after);
}

/// The one place in an epoch where the host waits for the device, and the one reduction over hosts.
EpochFigures Run::take_figures() {
  const auto squared_norm = [&](const auto& view, int at) {
    inner_product_(exec_, view.data(), view.data(), static_cast<int>(view.extent(0)),
                   device::image_shape(view),
                   device::DeviceView<double*>(epoch_sums_.data() + at, 2));
  };
  solver_->take_sums(exec_, epoch_sums_);
  squared_norm(unknowns_.object, EpochSums::object);
  squared_norm(unknowns_.probe, EpochSums::probe);
  Kokkos::deep_copy(exec_, host_epoch_sums_, epoch_sums_);
  exec_.fence();
  const std::span<double> sums(host_epoch_sums_.data(), EpochSums::n);
  for (const int norm : {EpochSums::object, EpochSums::probe})
    sums[norm] = std::isfinite(sums[norm]) ? 0 : 1;  // how many ranks have lost it
  comm_.sum(sums);
  if (sums[EpochSums::object] + sums[EpochSums::probe] > 0) {
    const std::string where = where_not_finite(scan_, state(), comm_);
    good_->put_back(exec_);
    // What the solver remembers is of the epoch that failed.
    start_stage(std::exchange(stage_, -1));
    throw AgreedError(ExitCode::not_finite,
                      text(where, " is not finite after epoch ", n_epochs() + 1,
                           "; smaller solver.object_step and solver.probe_step, or larger "
                           "solver.object_alpha, keep it in bounds"));
  }
  good_->keep(exec_);
  physics::FigureSums figures;
  std::copy_n(sums.begin(), figures.values.size(), figures.values.begin());
  return {figures.error(), figures.r_factor()};
}

EpochFigures Run::measure() {
  const physics::FigureSums sums = measure(start_pass(n_epochs()));
  EpochFigures figures{sums.error(), sums.r_factor(), stage_};
  if (!scan_.held_out.empty()) figures.validation_error = measure_held_out();
  return figures;
}

double Run::measure_held_out() {
  const std::span<const solvers::Batch> held_out = sweep_->start_held_out();
  scan_.on_device.patterns->begin_pass(exec_, sweep_->pass());
  return measure(held_out).error();
}

physics::FigureSums Run::measure(std::span<const solvers::Batch> batches) {
  const device::Region region("measure");
  model_.set_probe(exec_, unknowns_.probe);
  const auto add = [&](const physics::Chunk& chunk) {
    model_.forward(exec_, unknowns_.object, chunk);
    model_.detector().measure(exec_, model_.waves(), chunk, final_figures_);
  };
  for (const solvers::Batch& batch : batches) {
    std::for_each(batch.border.begin(), batch.border.end(), add);
    std::for_each(batch.interior.begin(), batch.interior.end(), add);
  }
  physics::FigureSums sums = final_figures_.take(exec_);
  comm_.sum(std::span<double>(sums.values));
  return sums;
}

ResultContents Run::contents(const EpochFigures& final_figures, const std::string& status) const {
  solvers::Fields remembered = memory();
  const bool is_large = std::ranges::any_of(remembered, &solvers::Field::is_large);
  if (is_large && !deck_.output.save_memory) remembered.clear();
  return {deck_, scan_, state(), std::move(remembered), stage_, history_, final_figures, status};
}

void Run::check_output() const {
  const io::AtomicFile writable(deck_.output.file, ResultFile::bytes(contents({}, "")), comm_);
}

void Run::write_result(const EpochFigures& final_figures, const std::string& status) {
  const Kokkos::Timer timer;
  ResultFile::write(contents(final_figures, status), comm_);
  write_seconds_ += timer.seconds();
}

RankTimes Run::times() const {
  const double halo_s = halo_.statistics().seconds;
  const double reduce_s = past_reduce_seconds_ + sweep_->reduce_seconds();
  const auto pattern_bytes = static_cast<double>(scan_.pattern_bytes_read);
  return {.compute_s = earlier_.compute_s + epoch_seconds_ - halo_s - reduce_s,
          .halo_s = earlier_.halo_s + halo_s,
          .reduce_s = earlier_.reduce_s + reduce_s,
          .io_s = earlier_.io_s + scan_.read_seconds + write_seconds_,
          .halo_bytes = earlier_.halo_bytes + static_cast<double>(halo_.statistics().bytes_sent),
          .pattern_bytes_read = earlier_.pattern_bytes_read + pattern_bytes};
}

}  // namespace tessera::run
