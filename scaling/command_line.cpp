// CLI11 takes longer to compile than any command: this file alone includes it.

#include "command_line.hpp"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "tessera/base/error.hpp"

#include "commands.hpp"

namespace tessera::scaling {
namespace {

/// What the subcommand is to do with its options, should it be chosen.
template <class Options, class Bench>
void set_action(CLI::App& command, const std::shared_ptr<Options>& options, Action& action,
                Bench bench) {
  command.callback([options, bench, &action] {
    action = [options, bench](const comm::Communicator& comm) { bench(*options, comm); };
  });
}

void add_case_options(CLI::App& command, CaseOptions& options) {
  command.add_option("--raster", options.raster, "positions, ROWSxCOLUMNS")
      ->delimiter('x')
      ->expected(2)
      ->allow_extra_args(false)  // one word; what follows is a setting
      ->capture_default_str();
  command.add_option("--size", options.scan.window_px, "window, pixels")->capture_default_str();
  command.add_option("--step", options.scan.step_px, "between positions, pixels")
      ->capture_default_str();
  command.add_option("--epochs", options.n_epochs, "to time, after one that warms up")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command.add_option("--json", options.json, "also write the figures to this file");
  command
      .add_option("settings", options.overrides,
                  "deck keys, e.g. probe.n_modes=4 solver.batch_size=0 "
                  "decomposition.transport=host_mpi")
      ->option_text("key=value ...");
}

void add_epoch(CLI::App& app, Action& action) {
  const auto options = std::make_shared<EpochOptions>();
  CLI::App* command = app.add_subcommand(
      "epoch", "One epoch of a deck, everything included, beside the bare transforms");
  command->add_option("deck", options->deck, "without one: a simulated scan of 516 x 128 x 128");
  command->add_option("settings", options->overrides, "deck keys to set")
      ->option_text("key=value ...");
  set_action(*command, options, action, bench_epoch);
}

void add_gradient(CLI::App& app, Action& action) {
  const auto options = std::make_shared<GradientOptions>();
  CLI::App* command = app.add_subcommand(
      "gradient",
      "Milliseconds per epoch of a synthetic scan, everything included, beside the bare transforms "
      "that it needs");
  add_case_options(*command, *options);
  command->add_flag("--skip-exchange", options->skip_exchange,
                    "ranks exchange nothing: what communication costs is the difference");
  command->add_option("--machine", options->machine,
                      "what tessera_bench machine has written: also predict the epoch");
  command->add_option("--started", options->started_s,
                      "when the job was started, seconds since 1970: also say how long ranks and "
                      "their scan took to be there");
  set_action(*command, options, action, bench_gradient);
}

void add_machine(CLI::App& app, Action& action) {
  const auto options = std::make_shared<MachineOptions>();
  CLI::App* command = app.add_subcommand(
      "machine",
      "Measure what this machine can do, alone and with as many ranks as were started, for tessera "
      "plan --machine");
  command->add_option("--windows", options->windows_px, "sides of windows, pixels")
      ->delimiter(',')
      ->check(CLI::Range(16, 4096))
      ->capture_default_str();
  command->add_option("--name", options->name, "of the machine, else what the system says");
  command->add_option("-o,--output", options->out, "file to write, else to the terminal");
  set_action(*command, options, action, bench_machine);
}

void add_predict(CLI::App& app, Action& action) {
  const auto options = std::make_shared<PredictOptions>();
  CLI::App* command = app.add_subcommand(
      "predict", "What the cost model says of an epoch on any number of ranks; nothing is run");
  add_case_options(*command, *options);
  command->add_option("--machine", options->machine, "what tessera_bench machine has written")
      ->required();
  command->add_option("--ranks", options->n_ranks, "numbers of ranks")
      ->delimiter(',')
      ->check(CLI::Range(1, 1000000))
      ->allow_extra_args(false)
      ->capture_default_str();
  set_action(*command, options, action, bench_predict);
}

void add_solvers(CLI::App& app, Action& action) {
  const auto options = std::make_shared<SolversOptions>();
  options->raster = {32, 32};
  options->scan.window_px = 128;
  options->n_epochs = 3;
  CLI::App* command = app.add_subcommand("solvers",
                                         "Milliseconds per epoch of every method, and of some "
                                         "models, beside two bare transforms of every wave");
  add_case_options(*command, *options);
  command->add_option("--modes", options->n_modes, "probe modes of the methods' rows")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--against", options->against,
                      "a file of --json: fail if a ratio is more than 10 % above the one in it");
  set_action(*command, options, action, bench_solvers);
}

void add_stages(CLI::App& app, Action& action) {
  const auto options = std::make_shared<CaseOptions>();
  CLI::App* command = app.add_subcommand(
      "stages",
      "Milliseconds, bytes, flops and share of the roofline of every stage of an epoch, timed one "
      "by one");
  add_case_options(*command, *options);
  set_action(*command, options, action, bench_stages);
}

void add_startup(CLI::App& app, Action& action) {
  const auto options = std::make_shared<StartupOptions>();
  CLI::App* command = app.add_subcommand(
      "startup", "time in which a rank finds its share of a large scan, and what it keeps of it");
  command->add_option("--raster", options->raster, "positions, ROWSxCOLUMNS")
      ->delimiter('x')
      ->expected(2)
      ->allow_extra_args(false)
      ->capture_default_str();
  command->add_option("--size", options->window_px, "window, pixels")->capture_default_str();
  command->add_option("--step", options->step_px, "between positions, pixels")
      ->capture_default_str();
  command->add_option("--ranks", options->n_ranks, "of the job")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--batch-size", options->batch_size, "positions; 0: a coverage of 2")
      ->capture_default_str();
  command->add_option("--batch-order", options->batch_order)->capture_default_str();
  command->add_option("--json", options->json, "also write the figures to this file");
  set_action(*command, options, action, bench_startup);
}

void add_table(CLI::App& app, Action& action) {
  const auto folder = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("table", "Results of scaling/sweep as Markdown");
  command->add_option("folder", *folder, "of *.json")->required();
  set_action(*command, folder, action, bench_table);
}

}  // namespace

int parse_command_line(int argc, char** argv, bool speaks, Action& action) {
  CLI::App app("Benchmarks of Tessera", "tessera_bench");
  app.require_subcommand(1);
  add_epoch(app, action);
  add_gradient(app, action);
  add_machine(app, action);
  add_predict(app, action);
  add_solvers(app, action);
  add_stages(app, action);
  add_table(app, action);
  add_startup(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = error.get_exit_code() == 0 ? 0 : static_cast<int>(ExitCode::bad_input);
    if (speaks) app.exit(error);
    return code;
  }
  return -1;
}

}  // namespace tessera::scaling
