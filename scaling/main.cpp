// tessera_bench: benchmarks that check themselves. scaling/README.md has the commands.

#include <fmt/core.h>

#include "tessera/base/error.hpp"
#include "tessera/device/runtime.hpp"

#include "command_line.hpp"

namespace {

using namespace tessera;

int run_command(int argc, char** argv, const comm::Communicator& world) {
  scaling::Action action;
  const int ended = scaling::parse_command_line(argc, argv, world.is_root(), action);
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
