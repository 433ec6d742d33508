#pragma once
/// How far from where it is held a parameter of a position is expected to be.

#include <algorithm>
#include <optional>

namespace tessera::solvers {

/// Standard deviation of a Gaussian prior: as wide as the positions are found to differ once they
/// have had time to, so that what is noise alone shrinks and what patterns tell stays
/// (docs/methods/refinement.md). Nothing of it is remembered beyond a run's end.
class PriorWidth {
 public:
  /// @param from_epoch first epoch of the fit
  PriorWidth(int from_epoch, double most, double least)
      : from_epoch_(from_epoch), most_(most), least_(least), free_since_(from_epoch) {}

  void start_epoch(int number) {
    number_ = number;
    if (!free_since_) free_since_ = std::max(from_epoch_, number);
  }
  /// @param found_rms of all positions, now
  double of(double found_rms) const {
    const bool had_time = number_ >= *free_since_ + epochs_that_tell;
    return had_time ? std::min(most_, std::max(found_rms, least_)) : most_;
  }
  /// The positions have been put back, and begin with the next epoch.
  void start_anew() { free_since_.reset(); }

 private:
  static constexpr int epochs_that_tell = 10;
  int from_epoch_;
  double most_;
  double least_;
  std::optional<int> free_since_;  ///< an epoch; none: the next
  int number_ = 0;                 ///< of the epoch
};

}  // namespace tessera::solvers
