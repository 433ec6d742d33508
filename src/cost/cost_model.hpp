#pragma once
/// Seconds of an epoch before it is run: what each rank does in each batch, counted from the plan,
/// times what the machine takes for it.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cost/amounts.hpp"

namespace tessera::cost {

/// What is the same in all batches of a run.
struct RunShape {
  double window_px = 0;
  int n_modes = 1;   ///< of the probe
  int n_planes = 1;  ///< of the object: slices and modes
  int n_ranks = 1;
  std::int64_t tile_px = 0;       ///< of the largest tile, ghosts included
  std::int64_t shared_bytes = 0;  ///< that a batch sums over all ranks
  MethodCost method = {};
  double more_transforms = 0;  ///< of a position and mode, besides those of one thin slice
};

/// Seconds of an epoch. Batches follow one another, each as slow as its slowest rank.
struct EpochCost {
  double border_s = 0;
  double interior_s = 0;
  double exchange_s = 0;  ///< of sums and values between tiles, what the interior does not hide
  double probe_s = 0;     ///< the all-reduce
  double updates_s = 0;   ///< of object and probe
  double rest_s = 0;      ///< what every batch and every epoch takes, however small
  /// Of border, interior and updates: what the mean rank waits for the slowest. Not a term.
  double waits_s = 0;

  double total_s() const {
    return border_s + interior_s + exchange_s + probe_s + updates_s + rest_s;
  }
  /// The largest term in words, or that ranks wait for one another.
  std::string_view limit() const;
};

/// Adds up an epoch, rank after rank.
class CostModel {
 public:
  CostModel(const Machine& machine, const RunShape& run);

  /// A rank's work in every batch. Ranks may be left out: the slowest is then that of those seen.
  void add_rank(std::span<const BatchWork> batches);
  EpochCost epoch() const;
  /// Positions of a batch, over all ranks, that take as long as what it costs besides: smaller
  /// batches leave ranks waiting for messages and starts more than computing.
  int least_batch() const;

 private:
  struct Batch {
    double border_s = 0;
    double interior_s = 0;
    double updates_s = 0;
    double exchange_s = 0;  ///< of the slowest exchange, which may be another rank's
    double mean_s = 0;      ///< of compute_s of all ranks, times their number
    double compute_s() const { return border_s + interior_s + updates_s; }
  };
  double exchange_s(const BatchWork& work, double interior_s) const;
  double probe_s() const;

  RunShape run_;
  WindowRates rates_;
  Link link_;
  bool on_gpu_;
  BatchShape shape_;
  double copy_bytes_per_s_;
  int real_bytes_;
  std::vector<Batch> batches_;
  int n_added_ = 0;
};

}  // namespace tessera::cost
