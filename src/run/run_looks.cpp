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

}  // namespace tessera::run
