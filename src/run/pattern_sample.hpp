#pragma once
/// Patterns that say something of the beam, kept while all are read.

#include <vector>

#include "optics/disc_parallax.hpp"
#include "run/binned_patterns.hpp"
#include "run/scan.hpp"

namespace tessera::run {

/// In pixels as coarse as suffices. All ranks choose the same.
class PatternSample {
 public:
  /// Collective.
  PatternSample(const deck::Deck& deck, const Scan& scan, const comm::Communicator& comm);

  /// Hands patterns on to `take`, if that is not empty, and keeps those that were chosen. For as
  /// long as this lives.
  io::TakePatterns before(io::TakePatterns take);
  /// Of pairs of patterns. Collective.
  optics::FeatureMotion motion(const comm::Communicator& comm);
  /// Electrons in a far field. X-rays see samples that falsify it.
  bool has_parallax() const { return !middle_px_.empty(); }
  /// Of patterns side by side. Collective.
  optics::ScanParallax parallax(const comm::Communicator& comm);

 private:
  PatternSample(const deck::Deck& deck, const Scan& scan, const std::vector<Vec2>& positions_px);

  bool in_near_field_;
  std::vector<int> mine_;  ///< scan positions of this rank
  std::vector<optics::PatternPair> pairs_;
  BinnedPatterns of_pairs_;
  std::vector<Vec2> pairs_px_;  ///< where their windows are, in their pixels
  BinnedPatterns of_middle_;
  std::vector<Vec2> middle_px_;  ///< likewise, in object pixels
};

}  // namespace tessera::run
