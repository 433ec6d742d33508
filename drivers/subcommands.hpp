#pragma once
/// The subcommands of `tessera`, one file each. Each adds itself to the command line and sets `run`
/// when chosen.

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tessera/base/error.hpp"
#include "tessera/comm/communicator.hpp"

#include "deck/deck.hpp"

namespace tessera::drivers {

/// What a chosen subcommand does. Collective.
using Action = std::function<ExitCode(const comm::Communicator&)>;

void add_reconstruct(CLI::App& app, Action& run);
void add_simulate(CLI::App& app, Action& run);
void add_inspect(CLI::App& app, Action& run);
void add_compare(CLI::App& app, Action& run);
void add_methods(CLI::App& app, Action& run);

/// Rank 0 reads the file; every rank parses the same text. Collective. @throws AgreedError
deck::Deck read_deck(const std::string& path, const std::vector<std::string>& overrides,
                     const comm::Communicator& comm);

}  // namespace tessera::drivers
