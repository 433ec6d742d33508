#pragma once
/// From words on the command line to what is to be done.

#include <functional>

#include "tessera/comm/communicator.hpp"

namespace tessera::scaling {

/// What a chosen subcommand does. Collective.
using Action = std::function<void(const comm::Communicator&)>;

/// Exit code of a command line that ends here, with words from a rank that `speaks`; -1: `action`
/// was chosen.
int parse_command_line(int argc, char** argv, bool speaks, Action& action);

}  // namespace tessera::scaling
