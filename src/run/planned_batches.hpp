#pragma once
/// What the deck's batches reach of any rank's tile, before a pattern is read: for the memory plan,
/// and for plans of runs on other numbers of ranks.

#include <vector>

#include "tessera/decomposition/batch_reach.hpp"

#include "decomposition/window_index.hpp"
#include "run/scan.hpp"

namespace tessera::run {

/// The pixels that windows may ever reach, those that move too.
class WindowReach {
 public:
  /// @param scan lives as long as this
  explicit WindowReach(const Scan& scan) : scan_(scan), index_(scan.corner(), scan.grid.window) {}

  /// @param tiling of the scan, on any number of ranks
  decomposition::NearWindows near(const decomposition::Tiling& tiling, int rank) const;

 private:
  const Scan& scan_;
  decomposition::WindowIndex index_;
};

/// Of all positions that are not held out; a few may turn out to be empty.
class PlannedBatches {
 public:
  /// @param scan with its tiles; lives as long as this
  explicit PlannedBatches(const Scan& scan);

  const WindowReach& windows() const { return windows_; }
  /// @param solver which of the plan's
  decomposition::BatchReach reach(const decomposition::HaloPlan& plan,
                                  const decomposition::NearWindows& near, std::size_t solver) const;

 private:
  struct OfSolver {
    std::vector<int> batch_of;  ///< by scan position; -1: held out
    int n_batches = 0;
    bool fixed_members = true;
  };
  WindowReach windows_;
  std::vector<OfSolver> of_solvers_;
};

}  // namespace tessera::run
