#pragma once
/// The subcommands of `tessera_bench`, one file each. Each adds itself to the command line and sets
/// `run` when chosen.

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>

#include "tessera/comm/communicator.hpp"

#include "deck/deck.hpp"
#include "measure.hpp"
#include "synthetic_case.hpp"

namespace tessera::run {
class Run;
}

namespace tessera::scaling {

/// What a chosen subcommand does. Collective.
using Action = std::function<void(const comm::Communicator&)>;

void add_epoch(CLI::App& app, Action& run);
void add_gradient(CLI::App& app, Action& run);
void add_machine(CLI::App& app, Action& run);
void add_predict(CLI::App& app, Action& run);
void add_solvers(CLI::App& app, Action& run);
void add_stages(CLI::App& app, Action& run);
void add_table(CLI::App& app, Action& run);
void add_startup(CLI::App& app, Action& run);

/// What the commands with a synthetic scan share.
struct CaseOptions {
  SyntheticCase scan;
  std::vector<int> raster{16, 16};
  std::vector<std::string> overrides;
  int n_epochs = 5;
  std::string json;  ///< path; empty: none
};
void add_case_options(CLI::App& command, CaseOptions& options);

/// The case's deck, on all ranks, with a batch_size. Collective. @throws AgreedError
deck::Deck deck_of(CaseOptions& options, const comm::Communicator& comm);

/// The bare transforms of this rank's positions, in chunks as large as those of the run's epoch.
Reference reference_of(const run::Run& run, const deck::Deck& deck, int n_ranks);

/// What the JSON of every command begins with.
nlohmann::json case_json(const std::string& command, const CaseOptions& options,
                         const deck::Deck& deck, int n_ranks);

/// Rank 0 writes; nothing if the path is empty. Collective. @throws AgreedError
void write_json(const std::string& path, const nlohmann::json& json,
                const comm::Communicator& comm);

}  // namespace tessera::scaling
