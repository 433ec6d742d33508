#pragma once
/// The epochs of a run, one after another, with all that may end or save it.

#include <memory>
#include <string>
#include <vector>

#include "run/requests.hpp"
#include "run/run.hpp"

namespace tessera::run {

/// One line per epoch; on a terminal one that lives.
class Progress {
 public:
  /// @param name in front of each line
  Progress(bool speaks, const deck::Deck& deck, int n_positions, std::string name = "");

  void show(const std::vector<EpochFigures>& history, double epoch_seconds);

  double seconds() const { return seconds_; }
  int n_shown() const { return n_shown_; }

 private:
  bool speaks_;
  bool on_terminal_;
  const deck::Deck& deck_;
  int n_positions_;
  std::string name_;
  double seconds_ = 0;
  int n_shown_ = 0;
};

inline constexpr const char* job_end_status =
    "stopped: time (the job's, SLURM_JOB_END_TIME, is nearly over)";

/// Epochs until all solvers have made theirs, or a stop rule, or a request. Collective.
/// @param run another one afterwards if positions have moved to new tiles
/// @return the result's status
std::string run_epochs(std::unique_ptr<Run>& run, const deck::Deck& deck,
                       const comm::Communicator& comm, Requests& requests, Progress& progress);

}  // namespace tessera::run
