/// Run: what is seen of the present state, and what follows from it.

#include <algorithm>
#include <utility>

#include "bad_patterns.hpp"
#include "figures.hpp"
#include "lost_positions.hpp"
#include "run/few_counts.hpp"
#include "run/run.hpp"
#include "stop_rules.hpp"
#include "worst_patterns.hpp"

namespace tessera::run {

bool Run::looks_for_lost_positions() const {
  const settings::RefinedPositions& positions = deck_.refine.positions;
  const int n_fitted = n_epochs() - positions.from_epoch;
  return positions.from_epoch >= 0 && positions.lost_ratio > 0 && positions.model == "free" &&
         n_fitted > 0 && n_fitted % lost_every_epochs == 0 &&
         epochs_left(deck_, history_) >= epochs_to_return;
}

physics::FigureSums Run::measure_each(
    std::span<const solvers::Batch> batches,
    const std::function<void(const physics::Chunk&, std::span<const int>)>& look) {
  const std::span<const int> order = sweep_->pass().order;
  return figures_->measure(exec_, batches, [&](const physics::Chunk& chunk) {
    look(chunk, order.subspan(static_cast<std::size_t>(chunk.begin),
                              static_cast<std::size_t>(chunk.count)));
  });
}

void Run::look_at_errors(std::span<const solvers::Batch> batches) {
  errors_->clear();
  measure_each(batches, [&](const physics::Chunk& chunk, std::span<const int> positions) {
    errors_->look(exec_, rank_.model, chunk, positions);
  });
}

void Run::find_lost_positions() {
  look_at_errors(start_pass(n_epochs()));
  const std::vector<int> lost =
      lost_positions(errors_->errors(), deck_.refine.positions.lost_ratio, comm_);
  std::int64_t n_lost = std::ssize(lost);
  comm_.sum(std::span(&n_lost, 1));
  if (n_lost == 0) return;
  const std::vector<Vec2> left_px = refinement_->displacements_px(exec_, lost);
  PlaceSearch search(left_px);
  std::vector<double> errors(lost.size());
  for (const Vec2& place_px : places_around()) {
    refinement_->move_positions(exec_, lost, std::vector(lost.size(), place_px));
    look_at_errors(start_pass_over(lost));
    std::ranges::transform(lost, errors.begin(), [&](int position) {
      return errors_->errors()[static_cast<std::size_t>(position)];
    });
    search.look(place_px, errors);
  }
  refinement_->move_positions(exec_, lost, search.best_px());
  solver_->take_far_moves();
}

std::vector<int> Run::leave_out_bad_patterns() {
  if (!bad_patterns_are_due(deck_, n_epochs(), epochs_left(deck_, history_))) return {};
  const Kokkos::Timer timer;
  look_at_errors(start_pass(n_epochs()));
  std::vector<int> bad = find_bad_patterns(scan_, *errors_, comm_);
  if (!bad.empty()) {
    scan_.bad.insert(scan_.bad.end(), bad.begin(), bad.end());
    std::ranges::sort(scan_.bad);
    start_stage(std::exchange(stage_, -1));
  }
  epoch_seconds_ += timer.seconds();
  return bad;
}

std::optional<physics::Noise> Run::adapt_noise() {
  const deck::Solver& solver = scan_.plan.solvers[static_cast<std::size_t>(stage_)];
  const physics::Noise noise = noise_after(history_, solver, scan_);
  if (noise == rank_.model.detector().noise()) return {};
  start_stage(std::exchange(stage_, -1));
  return noise;
}

EpochFigures Run::measure() {
  worst_ = std::make_unique<WorstPatterns>(scan_.info.pattern,
                                           rank_.model.detector().sizes().model.chunk_size,
                                           /*centres=*/!scan_.source.in_near_field);
  std::vector<int> of_scan;
  const physics::FigureSums sums = measure_each(
      start_pass(n_epochs()), [&](const physics::Chunk& chunk, std::span<const int> positions) {
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

}  // namespace tessera::run
