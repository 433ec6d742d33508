#pragma once
/// What a run was and where its time went, for people and for scripts.

#include <string>

#include <nlohmann/json.hpp>

#include "run/run.hpp"

namespace tessera::run {

struct RunOutcome {
  EpochFigures final_figures;
  std::string status;
  double epoch_seconds = 0;  ///< wall time of the epoch loop
  int n_epochs_run = 0;
};

/// Printed on rank 0, where it is also returned. Collective.
nlohmann::json report_summary(const Run& run, const RunOutcome& outcome,
                              const comm::Communicator& comm);

/// At `path` if that is not empty. Collective. @throws AgreedError
void write_summary(const nlohmann::json& summary, const std::string& path,
                   const comm::Communicator& comm);

}  // namespace tessera::run
