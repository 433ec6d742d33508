#include <algorithm>
#include <chrono>
#include <memory>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "tessera/base/error.hpp"

#include "commands.hpp"
#include "cost/machine_file.hpp"
#include "measure.hpp"
#include "memory_use.hpp"
#include "null_transport.hpp"
#include "predict.hpp"
#include "run/run.hpp"
#include "synthetic_scan.hpp"

namespace tessera::scaling {
namespace {

/// Of the slowest, fullest or busiest rank, except for the errors and the sums that say so.
struct Figures {
  std::string transport;
  Shape2 object;
  bool streams_patterns = false;
  double set_up_s = 0;
  double start_up_s = 0;  ///< since the job was started, if that is known
  std::vector<double> epochs_s;
  double first_error = 0;
  double last_error = 0;
  double device_bytes = 0;
  double object_bytes = 0;   ///< of the object on one rank
  double pattern_bytes = 0;  ///< of the patterns of one rank
  double halo_bytes = 0;     ///< sent in one epoch, sum over ranks
  double halo_messages = 0;  ///< the same
  double halo_wait_s = 0;    ///< in one epoch, of the host
  double reduce_wait_s = 0;  ///< the same, in sums over all ranks
  Reference reference;
  Roof roof;
};

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void time_epochs(run::Run& run, const comm::Communicator& comm, int n_epochs, Figures& figures) {
  figures.first_error = run.run_epoch().error;
  const run::RankTimes before = run.times();
  for (int epoch = 0; epoch < n_epochs; ++epoch) {
    comm.barrier();
    const Kokkos::Timer timer;
    figures.last_error = run.run_epoch().error;
    figures.epochs_s.push_back(timer.seconds());
  }
  comm.maximum(figures.epochs_s);
  const run::RankTimes after = run.times();
  figures.halo_bytes = (after.halo_bytes - before.halo_bytes) / n_epochs;
  figures.halo_messages = (after.halo_messages - before.halo_messages) / n_epochs;
  figures.halo_wait_s = (after.halo_s - before.halo_s) / n_epochs;
  figures.reduce_wait_s = (after.reduce_s - before.reduce_s) / n_epochs;
}

Figures measured(const deck::Deck& deck, const GradientOptions& options,
                 const comm::Communicator& comm) {
  Figures figures;
  const std::int64_t bytes_before = device_bytes_used();
  const Kokkos::Timer timer;
  run::Scan scan = make_synthetic_scan(deck, options.scan, comm);
  std::unique_ptr<halo::Transport> transport;
  if (options.skip_exchange) transport = std::make_unique<NullTransport>();
  run::Run run(deck, comm, std::move(scan), Log(comm.is_root()), std::move(transport));
  figures.set_up_s = timer.seconds();
  figures.start_up_s = seconds_since_1970() - options.started_s;
  time_epochs(run, comm, options.n_epochs, figures);

  const run::Scan& here = run.scan();
  figures.transport = run.transport();
  figures.object = here.grid.object;
  figures.streams_patterns = here.memory.patterns != decomposition::PatternsIn::device;
  figures.device_bytes = static_cast<double>(device_bytes_used() - bytes_before);
  figures.object_bytes = static_cast<double>(here.tile().ghosted.area()) * sizeof(device::complex);
  figures.pattern_bytes =
      static_cast<double>(here.tile().positions.size() * here.info.pattern.size() * 2);
  const device::Device exec;
  figures.reference = bare_transforms_of(run, deck, comm.size()).median_of_rounds(exec);
  figures.roof = measure_roof(exec, comm.size());
  for (double* of_rank :
       {&figures.set_up_s, &figures.start_up_s, &figures.device_bytes, &figures.object_bytes,
        &figures.pattern_bytes, &figures.halo_wait_s, &figures.reduce_wait_s,
        &figures.reference.transforms_s, &figures.reference.transforms_and_pass_s})
    comm.maximum(std::span(of_rank, 1));
  for (double* of_rank : {&figures.halo_bytes, &figures.halo_messages})
    comm.sum(std::span(of_rank, 1));
  comm.minimum(std::span(&figures.roof.bytes_per_s, 1));
  comm.minimum(std::span(&figures.roof.flops_per_s, 1));
  return figures;
}

nlohmann::json as_json(const Figures& figures, const GradientOptions& options,
                       const deck::Deck& deck, int n_ranks) {
  nlohmann::json json = case_json("gradient", options, deck, n_ranks);
  const double epoch_s = median(figures.epochs_s);
  json.update(
      {{"exchange", !options.skip_exchange},
       {"transport", figures.transport},
       {"epoch_ms", 1e3 * epoch_s},
       {"us_per_position", 1e6 * epoch_s / static_cast<double>(options.scan.raster.size())},
       {"transforms_ms", 1e3 * figures.reference.transforms_s},
       {"transforms_and_pass_ms", 1e3 * figures.reference.transforms_and_pass_s},
       {"ratio", epoch_s / figures.reference.transforms_and_pass_s},
       {"copy_GB_per_s", 1e-9 * figures.roof.bytes_per_s},
       {"multiply_add_GFLOP_per_s", 1e-9 * figures.roof.flops_per_s},
       {"device_bytes", figures.device_bytes},
       {"object_px", {figures.object.h, figures.object.w}},
       {"object_bytes", static_cast<double>(figures.object.size()) * sizeof(device::complex)},
       {"object_bytes_per_rank", figures.object_bytes},
       {"pattern_bytes_per_rank", figures.pattern_bytes},
       {"streams_patterns", figures.streams_patterns},
       {"halo_bytes_per_epoch", figures.halo_bytes},
       {"halo_messages_per_epoch", figures.halo_messages},
       {"halo_wait_ms", 1e3 * figures.halo_wait_s},
       {"reduce_wait_ms", 1e3 * figures.reduce_wait_s},
       {"set_up_s", figures.set_up_s},
       {"first_error", figures.first_error},
       {"last_error", figures.last_error}});
  if (options.started_s > 0) json["start_up_s"] = figures.start_up_s;
  for (const double seconds : figures.epochs_s) json["epochs_ms"].push_back(1e3 * seconds);
  return json;
}

/// Beside the least of the epochs: a machine's rates are of the least, too.
void add_prediction(const deck::Deck& deck, const GradientOptions& options,
                    const comm::Communicator& comm, nlohmann::json& json) {
  comm.together([&] {
    if (!comm.is_root()) return;
    const cost::Machine machine = cost::read_machine(options.machine);
    const run::RankPlan plan = predict(deck, options.scan, {comm.size()}, machine).front();
    const double least_ms = std::ranges::min(json["epochs_ms"].get<std::vector<double>>());
    json["predicted"] = prediction_json(plan);
    json["predicted_over_least"] = 1e3 * plan.epoch.total_s() / least_ms;
    run::print_seconds(machine, {&plan, 1});
    fmt::print("predicted / least measured: {:.2f} / {:.2f} ms = {:.3f}\n",
               1e3 * plan.epoch.total_s(), least_ms, json["predicted_over_least"].get<double>());
  });
}

}  // namespace

void bench_gradient(GradientOptions& options, const comm::Communicator& comm) {
  const deck::Deck deck = deck_of(options, comm);
  const Figures figures = measured(deck, options, comm);
  nlohmann::json json = as_json(figures, options, deck, comm.size());
  json["machine"] = machine_name(comm);
  if (!options.skip_exchange && !(figures.last_error < figures.first_error))
    throw AgreedError(ExitCode::failed,
                      "the error did not fall: the benchmark does not reconstruct");
  if (comm.is_root())
    fmt::print(
        "{} positions of {} px, {} mode(s), batch {}, {} rank(s): epoch {:.2f} ms, {:.2f} us "
        "a position; transforms {:.2f} ms, and a pass over the waves {:.2f} ms, ratio "
        "{:.2f}; {:.2f} GB; copy {:.0f} GB/s; error {:.4g} -> {:.4g}\n",
        options.scan.raster.size(), options.scan.window_px, deck.probe.n_modes,
        deck.solvers.front().batch_size.value(), comm.size(), json["epoch_ms"].get<double>(),
        json["us_per_position"].get<double>(), json["transforms_ms"].get<double>(),
        json["transforms_and_pass_ms"].get<double>(), json["ratio"].get<double>(),
        1e-9 * figures.device_bytes, json["copy_GB_per_s"].get<double>(), figures.first_error,
        figures.last_error);
  if (!options.machine.empty()) add_prediction(deck, options, comm, json);
  write_json(options.json, json, comm);
}

}  // namespace tessera::scaling
