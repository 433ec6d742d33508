#include "deck/methods.hpp"

#include <fmt/core.h>

#include "subcommands.hpp"

namespace tessera::drivers {

void add_methods(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand(
      "methods", "Print which solver.method goes with which model and which options");
  command->callback([&run] {
    run = [](const comm::Communicator& comm) {
      if (comm.is_root()) fmt::print("{}", deck::methods_table());
      return ExitCode::done;
    };
  });
}

}  // namespace tessera::drivers
