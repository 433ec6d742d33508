#pragma once
/// What the patterns of a near field say of the beam's curvature, found while they are read.

#include <string>
#include <vector>

#include "run/scan.hpp"

namespace tessera::run {

/// The start probe is made of an image in the near field, whose curvature the image does not show.
bool measures_curvature(const deck::Deck& deck, const Scan& scan);

/// Some patterns, in pixels as coarse as suffices. All ranks choose the same.
class PatternSample {
 public:
  /// Collective.
  PatternSample(const Scan& scan, const comm::Communicator& comm);

  /// Hands patterns on to `take`, if that is not empty, and keeps those that were chosen. For as
  /// long as this lives.
  io::TakePatterns before(io::TakePatterns take);
  /// Collective.
  optics::FeatureMotion motion(const comm::Communicator& comm);

 private:
  void keep(int position, const std::byte* pattern);

  io::PatternType type_;
  Shape2 recorded_;
  double ignored_;  ///< of pixels that a pattern ignores
  int bin_;
  std::vector<int> mine_;    ///< scan positions of this rank
  std::vector<int> chosen_;  ///< scan positions, ascending
  std::vector<Vec2> positions_px_;
  std::vector<optics::PatternPair> pairs_;
  ImageStack<double> patterns_;  ///< of chosen_; zeros where they are another rank's
};

/// Whether it is no chance, and says more than the deck does.
bool is_reliable(const optics::FeatureMotion& motion);

/// What was measured, for the person who reads.
std::string curvature_line(const optics::FeatureMotion& motion, const geometry::Optics& optics);

}  // namespace tessera::run
