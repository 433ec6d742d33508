#pragma once
/// What the patterns say of the beam's curvature or defocus, found while they are read.

#include <string>
#include <vector>

#include "run/scan.hpp"

namespace tessera::run {

/// The start probe is made of an image, which does not show the curvature of a near field's wave,
/// or of any kind in a far field, whose beam has a defocus that the deck knows roughly, if at all.
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
  Pixel middle_;    ///< of what is kept, where the first recorded pixel goes
  double ignored_;  ///< of pixels that a pattern ignores
  int bin_;
  std::vector<int> mine_;    ///< scan positions of this rank
  std::vector<int> chosen_;  ///< scan positions, ascending
  std::vector<Vec2> positions_px_;
  std::vector<optics::PatternPair> pairs_;
  ImageStack<double> patterns_;  ///< of chosen_; zeros where they are another rank's
};

/// What a near field's beam may have. One: that is it; a flat wave's and the measured one: errors
/// of the first epochs decide (docs/methods/start_values.md).
std::vector<optics::FeatureMotion> possible_motions(const optics::FeatureMotion& measured);
/// What a far field's beam may have, the deck's first, where that is not what its patterns show.
/// One: that is it; more: errors of the first epochs decide (docs/methods/start_values.md).
/// @param shown_m by the shadows
std::vector<double> possible_defoci_m(const deck::Probe& probe,
                                      const optics::FeatureMotion& shadows, double shown_m);

/// What was measured, for the person who reads.
std::string shadows_line(const optics::FeatureMotion& shadows, double shown_m);
std::string curvature_line(const optics::FeatureMotion& motion, const geometry::Optics& optics);

}  // namespace tessera::run
