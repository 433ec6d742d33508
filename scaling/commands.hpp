#pragma once
/// What the subcommands of `tessera_bench` do, one file each, and what they share. All are
/// collective.

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tessera/comm/communicator.hpp"

#include "deck/deck.hpp"
#include "measure.hpp"
#include "synthetic_case.hpp"

namespace tessera::run {
class Run;
}

namespace tessera::scaling {

/// What the commands with a synthetic scan share.
struct CaseOptions {
  SyntheticCase scan;
  std::vector<int> raster{16, 16};
  std::vector<std::string> overrides;
  int n_epochs = 5;
  std::string json;  ///< path; empty: none
};

struct EpochOptions {
  std::string deck;
  std::vector<std::string> overrides;
};
void bench_epoch(const EpochOptions& options, const comm::Communicator& comm);

struct GradientOptions : CaseOptions {
  bool skip_exchange = false;
  double started_s = 0;  ///< since 1970; 0: not known
  std::string machine;
};
void bench_gradient(GradientOptions& options, const comm::Communicator& comm);

struct MachineOptions {
  std::vector<int> windows_px{64, 128, 256, 512};
  std::string name;
  std::string out;
};
void bench_machine(MachineOptions& options, const comm::Communicator& comm);

struct PredictOptions : CaseOptions {
  std::string machine;
  std::vector<int> n_ranks{1, 2, 4, 8, 16};
};
void bench_predict(PredictOptions& options, const comm::Communicator& comm);

struct SolversOptions : CaseOptions {
  std::vector<int> n_modes{1, 3};
  std::string against;
};
void bench_solvers(SolversOptions& options, const comm::Communicator& comm);

void bench_stages(CaseOptions& options, const comm::Communicator& comm);

struct StartupOptions {
  std::vector<int> raster{3163, 3163};
  int window_px = 128;
  int step_px = 8;
  int n_ranks = 4096;
  int batch_size = 0;
  std::string batch_order = "spread";
  std::string json;
};
void bench_startup(const StartupOptions& options, const comm::Communicator& comm);

/// @param folder of results
void bench_table(const std::string& folder, const comm::Communicator& comm);

/// Its GPU, or its processor and how many cores the system has.
std::string machine_name(const comm::Communicator& comm);

/// The case's deck, on all ranks, with a batch_size. Collective. @throws AgreedError
deck::Deck deck_of(CaseOptions& options, const comm::Communicator& comm);

/// The bare transforms of this rank's positions, in chunks as large as those of the run's epoch.
BareTransforms bare_transforms_of(const run::Run& run, const deck::Deck& deck, int n_ranks);

/// What the JSON of every command begins with.
nlohmann::json case_json(const std::string& command, const CaseOptions& options,
                         const deck::Deck& deck, int n_ranks);

/// Rank 0 writes; nothing if the path is empty. Collective. @throws AgreedError
void write_json(const std::string& path, const nlohmann::json& json,
                const comm::Communicator& comm);

}  // namespace tessera::scaling
