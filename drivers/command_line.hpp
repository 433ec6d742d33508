#pragma once
/// From words on the command line to what is to be done.

#include <functional>
#include <optional>

#include "tessera/base/error.hpp"
#include "tessera/comm/communicator.hpp"

namespace tessera::drivers {

/// What a chosen subcommand does. Collective.
using Action = std::function<ExitCode(const comm::Communicator&)>;

/// Nothing for a command line that ends here: help and version, which a rank that `speaks` prints.
/// @throws AgreedError for mistakes
std::optional<Action> parse_command_line(int argc, char** argv, bool speaks);

}  // namespace tessera::drivers
