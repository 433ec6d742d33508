// tessera_bench: benchmarks that check themselves. scaling/README.md has the commands.

#include <fmt/core.h>

#include "tessera/base/error.hpp"
#include "tessera/device/runtime.hpp"

#include "commands.hpp"

namespace {

using namespace tessera;

/// Exit code of a command line that ends here; -1: an action was chosen.
int parse_command_line(int argc, char** argv, bool speaks, scaling::Action& action) {
  CLI::App app("Benchmarks of Tessera", "tessera_bench");
  app.require_subcommand(1);
  scaling::add_epoch(app, action);
  scaling::add_gradient(app, action);
  scaling::add_machine(app, action);
  scaling::add_predict(app, action);
  scaling::add_solvers(app, action);
  scaling::add_stages(app, action);
  scaling::add_table(app, action);
  scaling::add_startup(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = error.get_exit_code() == 0 ? 0 : static_cast<int>(ExitCode::bad_input);
    if (speaks) app.exit(error);
    return code;
  }
  return -1;
}

int run_command(int argc, char** argv, const comm::Communicator& world) {
  scaling::Action action;
  const int ended = parse_command_line(argc, argv, world.is_root(), action);
  if (ended >= 0) return ended;
  const device::Runtime device(world.local_rank());
  action(world);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  comm::Environment environment(argc, argv);
  const comm::Communicator world;
  try {
    return run_command(argc, argv, world);
  } catch (const AgreedError& error) {
    if (world.is_root()) fmt::print(stderr, "tessera_bench: error: {}\n", error.what());
    return static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "tessera_bench: error: [rank {}] {}\n", world.rank(), error.what());
    world.abort(static_cast<int>(ExitCode::failed));
  }
}
