#include "predict.hpp"

#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "cost/machine_file.hpp"
#include "run/planned_batches.hpp"
#include "synthetic_scan.hpp"

namespace tessera::scaling {

std::vector<run::RankPlan> predict(const deck::Deck& deck, const SyntheticCase& wanted,
                                   const std::vector<int>& n_ranks, const cost::Machine& machine) {
  const comm::Communicator alone(MPI_COMM_SELF);
  const run::Scan scan = lay_out_synthetic_scan(deck, wanted, alone);
  const run::PlannedBatches planned(scan);
  std::vector<run::RankPlan> plans;
  for (const int n : n_ranks)
    plans.push_back(run::plan_for_ranks(deck, scan, planned, n, &machine));
  return plans;
}

nlohmann::json prediction_json(const run::RankPlan& plan) {
  const cost::EpochCost& epoch = plan.epoch;
  return {{"ranks", plan.n_ranks},
          {"ranks_counted", plan.n_counted},
          {"positions_of_a_rank", plan.most_positions},
          {"device_bytes", plan.device_bytes},
          {"halo_bytes", plan.halo_bytes},
          {"balance", plan.balance},
          {"epoch_ms", 1e3 * epoch.total_s()},
          {"interior_ms", 1e3 * epoch.interior_s},
          {"border_ms", 1e3 * epoch.border_s},
          {"exchange_ms", 1e3 * epoch.exchange_s},
          {"probe_ms", 1e3 * epoch.probe_s},
          {"updates_ms", 1e3 * epoch.updates_s},
          {"rest_ms", 1e3 * epoch.rest_s},
          {"waits_ms", 1e3 * epoch.waits_s},
          {"limit", epoch.limit()},
          {"least_batch", plan.least_batch}};
}

void bench_predict(PredictOptions& options, const comm::Communicator& comm) {
  const deck::Deck deck = deck_of(options, comm);
  nlohmann::json json = case_json("predict", options, deck, 0);
  comm.together([&] {
    if (!comm.is_root()) return;
    const cost::Machine machine = cost::read_machine(options.machine);
    const auto plans = predict(deck, options.scan, options.n_ranks, machine);
    json["machine"] = machine.name;
    json["measured_ranks"] = machine.links.back().n_ranks;
    for (const run::RankPlan& plan : plans) json["predictions"].push_back(prediction_json(plan));
    fmt::print("{} positions of {} px, {} mode(s), batch {}: predicted, not run\n",
               options.scan.raster.size(), options.scan.window_px, deck.probe.n_modes,
               deck.solvers.front().batch_size.value());
    run::print_seconds(machine, plans);
  });
  write_json(options.json, json, comm);
}

}  // namespace tessera::scaling
