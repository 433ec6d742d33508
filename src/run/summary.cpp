#include "summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "physics/probe_modes.hpp"
#include "run/doubts.hpp"

namespace tessera::run {
namespace {

struct Spread {
  double min = 0;
  double mean = 0;
  double max = 0;
};

struct Row {
  const char* name;
  Spread seconds;
};

struct Summary {
  std::array<Row, 4> times;
  double halo_bytes = 0;
  double pattern_bytes_read = 0;
  std::vector<double> mode_powers = {};
};

Spread spread_of(const std::vector<RankTimes>& ranks, double RankTimes::* field) {
  Spread spread{ranks.front().*field, 0, ranks.front().*field};
  for (const RankTimes& rank : ranks) {
    spread.min = std::min(spread.min, rank.*field);
    spread.max = std::max(spread.max, rank.*field);
    spread.mean += rank.*field / static_cast<double>(ranks.size());
  }
  return spread;
}

Summary summarise(const Run& run, const comm::Communicator& comm) {
  const RankTimes mine = run.times();
  const std::vector<RankTimes> ranks = comm.all_gather(std::span<const RankTimes>(&mine, 1));
  Summary summary{.times = {Row{"compute", spread_of(ranks, &RankTimes::compute_s)},
                            Row{"halo", spread_of(ranks, &RankTimes::halo_s)},
                            Row{"reduce", spread_of(ranks, &RankTimes::reduce_s)},
                            Row{"I/O", spread_of(ranks, &RankTimes::io_s)}}};
  for (const RankTimes& rank : ranks) {
    summary.halo_bytes += rank.halo_bytes;
    summary.pattern_bytes_read += rank.pattern_bytes_read;
  }
  summary.mode_powers = physics::mode_powers(device::Device(), run.unknowns().probe);
  return summary;
}

void print(const Summary& summary, const Run& run, const RunOutcome& outcome, int n_ranks) {
  fmt::print("\n{} after {} epochs: error {:.6g}, r_factor {:.6g}\n", outcome.status,
             run.n_epochs(), outcome.final_figures.error, outcome.final_figures.r_factor);
  if (const double noise = run.scan().poisson_error; noise > 0)
    fmt::print("Poisson's noise alone leaves {:.6g}: the error is {:.2f} times that\n", noise,
               outcome.final_figures.error / noise);
  if (const std::string doubt =
          doubt_of_model(run.deck(), outcome.final_figures.error, run.scan().poisson_error);
      !doubt.empty())
    fmt::print("{}\n", doubt);
  if (std::isfinite(outcome.final_figures.validation_error))
    fmt::print("validation error {:.6g} of {} positions that were not fitted\n",
               outcome.final_figures.validation_error, run.scan().held_out.size());
  double total = 0;
  for (const double power : summary.mode_powers) total += power;
  fmt::print("probe mode powers:");
  for (const double power : summary.mode_powers) fmt::print(" {:.2f} %", 100 * power / total);
  fmt::print("\n{} rank{}, {} transport, {:.2f} s in {} epochs\n", n_ranks, n_ranks == 1 ? "" : "s",
             run.transport(), outcome.epoch_seconds, outcome.n_epochs_run);
  fmt::print("seconds per rank    min     mean      max\n");
  for (const Row& row : summary.times)
    fmt::print("  {:<10} {:>8.3f} {:>8.3f} {:>8.3f}\n", row.name, row.seconds.min, row.seconds.mean,
               row.seconds.max);
  fmt::print("halo moved {:.1f} MB, patterns read {:.1f} MB (all ranks)\n",
             summary.halo_bytes / 1e6, summary.pattern_bytes_read / 1e6);
}

nlohmann::json as_json(const Summary& summary, const Run& run, const RunOutcome& outcome,
                       int n_ranks) {
  nlohmann::json json = {{"status", outcome.status},
                         {"epochs", run.n_epochs()},
                         {"epochs_run", outcome.n_epochs_run},
                         {"final_error", outcome.final_figures.error},
                         {"final_r_factor", outcome.final_figures.r_factor},
                         {"epoch_loop_s", outcome.epoch_seconds},
                         {"ranks", n_ranks},
                         {"transport", run.transport()},
                         {"positions", run.scan().n_positions()},
                         {"fitted_positions", run.scan().n_fitted()},
                         {"bad_patterns", run.scan().bad},
                         {"held_out_positions", run.scan().held_out.size()},
                         {"batch_sizes", run.scan().batch_sizes()},
                         {"probe_mode_powers", summary.mode_powers},
                         {"halo_bytes", summary.halo_bytes},
                         {"pattern_bytes_read", summary.pattern_bytes_read}};
  for (const Row& row : summary.times)
    json["seconds_per_rank"][row.name] = {
        {"min", row.seconds.min}, {"mean", row.seconds.mean}, {"max", row.seconds.max}};
  for (const char* name : {"error", "r_factor", "stage"})
    json["history"][name] = nlohmann::json::array();
  for (const EpochFigures& epoch : run.history()) {
    json["history"]["error"].push_back(epoch.error);
    json["history"]["r_factor"].push_back(epoch.r_factor);
    json["history"]["stage"].push_back(epoch.stage);
    if (!run.scan().held_out.empty())
      json["history"]["validation_error"].push_back(epoch.validation_error);
  }
  if (run.scan().poisson_error > 0) json["poisson_error"] = run.scan().poisson_error;
  if (!run.scan().held_out.empty())
    json["final_validation_error"] = outcome.final_figures.validation_error;
  return json;
}

}  // namespace

nlohmann::json report_summary(const Run& run, const RunOutcome& outcome,
                              const comm::Communicator& comm) {
  const Summary summary = summarise(run, comm);
  if (!comm.is_root()) return {};
  print(summary, run, outcome, comm.size());
  return as_json(summary, run, outcome, comm.size());
}

void write_summary(const nlohmann::json& summary, const std::string& path,
                   const comm::Communicator& comm) {
  comm.together([&] {
    if (!comm.is_root() || path.empty()) return;
    std::ofstream file(path);
    file << summary.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    if (!file.flush())
      throw SystemError(text("cannot write the summary to \"", path,
                             "\"; its folder must exist and be writable"));
  });
}

}  // namespace tessera::run
