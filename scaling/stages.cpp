#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "measure.hpp"
#include "run/run.hpp"
#include "stage_clock.hpp"
#include "stage_costs.hpp"
#include "synthetic_scan.hpp"

namespace tessera::scaling {
namespace {

struct StageRow {
  std::string name;
  Stage stage;  ///< per epoch
  StageCost cost;
  double roof_share = 0;  ///< least time by the roofs / time; 0: no cost known
};

double min_seconds(const StageCost& cost, const Roof& roof) {
  return std::max(cost.bytes / roof.bytes_per_s, cost.flops / roof.flops_per_s);
}

/// The longest first.
std::vector<StageRow> rows(const StageClock& clock, const EpochLoad& load, const Roof& roof,
                           int n_epochs) {
  const std::map<std::string, StageCost> costs = stage_costs(load);
  std::vector<StageRow> made;
  for (const auto& [name, stage] : clock.stages()) {
    StageRow row{name, {stage.n_calls / n_epochs, stage.seconds / n_epochs}, {}, 0};
    if (const auto known = costs.find(name); known != costs.end()) {
      row.cost = known->second;
      row.roof_share = min_seconds(row.cost, roof) / row.stage.seconds;
    }
    made.push_back(row);
  }
  std::sort(made.begin(), made.end(),
            [](const StageRow& a, const StageRow& b) { return a.stage.seconds > b.stage.seconds; });
  return made;
}

EpochLoad load_of(const run::Run& run) {
  return {.n_positions = static_cast<double>(run.scan().tile().positions.size()),
          .n_modes = static_cast<double>(run.model().n_modes()),
          .window_pixels = static_cast<double>(run.scan().info.pattern.size()),
          .transforms_per_position = static_cast<double>(run.model().transforms_per_position())};
}

void print(const std::vector<StageRow>& stages, double epoch_s, double stages_s, const Roof& roof) {
  fmt::print("{:<44} {:>7} {:>9} {:>8} {:>8} {:>7}\n", "stage, one epoch of rank 0", "calls", "ms",
             "GB/s", "GFLOP/s", "roof");
  for (const StageRow& row : stages) {
    const double s = row.stage.seconds;
    if (row.roof_share > 0)
      fmt::print("{:<44} {:>7} {:>9.3f} {:>8.1f} {:>8.1f} {:>6.0f}%\n", row.name, row.stage.n_calls,
                 1e3 * s, 1e-9 * row.cost.bytes / s, 1e-9 * row.cost.flops / s,
                 100 * row.roof_share);
    else
      fmt::print("{:<44} {:>7} {:>9.3f}\n", row.name, row.stage.n_calls, 1e3 * s);
  }
  fmt::print(
      "stages one by one {:.3f} ms; an epoch left alone {:.3f} ms\n"
      "roofs: copy {:.1f} GB/s, multiply-add {:.1f} GFLOP/s\n",
      1e3 * stages_s, 1e3 * epoch_s, 1e-9 * roof.bytes_per_s, 1e-9 * roof.flops_per_s);
}

nlohmann::json as_json(const std::vector<StageRow>& stages) {
  nlohmann::json json = nlohmann::json::array();
  for (const StageRow& row : stages)
    json.push_back({{"name", row.name},
                    {"calls", row.stage.n_calls},
                    {"ms", 1e3 * row.stage.seconds},
                    {"bytes", row.cost.bytes},
                    {"flops", row.cost.flops},
                    {"roof_share", row.roof_share}});
  return json;
}

}  // namespace

void bench_stages(CaseOptions& options, const comm::Communicator& comm) {
  const deck::Deck deck = deck_of(options, comm);
  const device::Device exec;
  const Roof roof = measure_roof(exec, comm.size());
  run::Run run(deck, comm, make_synthetic_scan(deck, options.scan, comm), Log(false));
  const double epoch_s = median_seconds(exec, options.n_epochs, [&] { run.run_epoch(); });
  std::vector<StageRow> stages;
  {
    StageClock clock;
    for (int epoch = 0; epoch < options.n_epochs; ++epoch) run.run_epoch();
    stages = rows(clock, load_of(run), roof, options.n_epochs);
  }
  double stages_s = 0;
  for (const StageRow& row : stages) stages_s += row.stage.seconds;
  if (comm.is_root()) print(stages, epoch_s, stages_s, roof);
  nlohmann::json json = case_json("stages", options, deck, comm.size());
  json.update({{"transport", run.transport()},
               {"epoch_ms", 1e3 * epoch_s},
               {"stages_ms", 1e3 * stages_s},
               {"copy_GB_per_s", 1e-9 * roof.bytes_per_s},
               {"multiply_add_GFLOP_per_s", 1e-9 * roof.flops_per_s},
               {"stages", as_json(stages)}});
  write_json(options.json, json, comm);
}

}  // namespace tessera::scaling
