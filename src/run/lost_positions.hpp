#pragma once
/// Positions that were refined to a wrong place, told by their patterns, and better places.

#include <span>
#include <vector>

#include "tessera/base/box.hpp"
#include "tessera/comm/communicator.hpp"

namespace tessera::run {

// A position that an early, poor object has led astray stays where it is, in a minimum of its own
// pattern's error alone (a period of the sample away, say). Once the others are right that error
// stands out. From where the scan has it the position may go the same way again: where, of places
// around, its pattern fits best and clearly better than there, it starts anew.

/// Epochs from one look to the next: enough to come back.
inline constexpr int lost_every_epochs = 20;
/// And no look within so many before the last.
inline constexpr int epochs_to_return = 15;

/// This rank's, ascending, whose errors are above `ratio` times the geometric mean over all ranks.
/// Collective.
/// @param errors by position of this rank, 0: not looked at
std::vector<int> lost_positions(std::span<const double> errors, double ratio,
                                const comm::Communicator& comm);

/// Where to look, from where the scan has a position, object pixels; that itself comes first.
std::span<const Vec2> places_around();

/// Where each of some positions starts anew.
class PlaceSearch {
 public:
  /// @param left_px where each was found: it starts anew elsewhere; lasts as long as this
  explicit PlaceSearch(std::span<const Vec2> left_px);
  /// @param errors of the positions where all are at `place_px`
  void look(const Vec2& place_px, std::span<const double> errors);
  const std::vector<Vec2>& best_px() const { return best_px_; }

 private:
  std::span<const Vec2> left_px_;
  std::vector<Vec2> best_px_;
  std::vector<double> least_error_;
};

}  // namespace tessera::run
