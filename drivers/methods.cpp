#include "deck/methods.hpp"

#include <fmt/core.h>

#include "subcommands.hpp"

namespace tessera::drivers {

ExitCode methods(const comm::Communicator& comm) {
  if (comm.is_root()) fmt::print("{}", deck::methods_table());
  return ExitCode::done;
}

}  // namespace tessera::drivers
