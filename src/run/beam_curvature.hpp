#pragma once
/// What the patterns say of the beam's curvature or defocus, found while they are read.

#include <string>
#include <vector>

#include "optics/disc_parallax.hpp"
#include "run/binned_patterns.hpp"
#include "run/scan.hpp"

namespace tessera::run {

/// The start probe is made of an image, which does not show the curvature of a near field's wave,
/// or of any kind in a far field, whose beam has a defocus that the deck knows roughly, if at all.
bool measures_curvature(const deck::Deck& deck, const Scan& scan);

/// Some patterns, in pixels as coarse as suffices. All ranks choose the same.
class PatternSample {
 public:
  /// Collective.
  PatternSample(const deck::Deck& deck, const Scan& scan, const comm::Communicator& comm);

  /// Hands patterns on to `take`, if that is not empty, and keeps those that were chosen. For as
  /// long as this lives.
  io::TakePatterns before(io::TakePatterns take);
  /// Collective.
  optics::FeatureMotion motion(const comm::Communicator& comm);
  /// Shadows of a weak sample are lost in the noise of single patterns. All patterns together show
  /// the parallax. X-rays see samples that falsify it.
  bool asks_parallax(const optics::FeatureMotion& shadows) const;
  /// Where it is asked. Collective.
  optics::ScanParallax parallax(const comm::Communicator& comm);

 private:
  bool in_near_field_;
  std::vector<int> mine_;           ///< scan positions of this rank
  std::vector<Vec2> positions_px_;  ///< of all
  std::vector<optics::PatternPair> pairs_;
  std::vector<int> in_pairs_;      ///< scan positions, ascending
  std::vector<int> side_by_side_;  ///< likewise, of an electron beam
  BinnedPatterns of_pairs_;
  BinnedPatterns of_middle_;
};

/// What the patterns of a far field say of the beam's defocus.
struct ShownDefocus {
  double defocus_m = 0;
  bool is_clear = false;
  bool is_near_focus = false;  ///< where it is not known well
  bool is_of_parallax = false;
};
ShownDefocus shown_by(const optics::FeatureMotion& shadows, const Scan& scan);
ShownDefocus shown_by(const optics::ScanParallax& parallax, const Scan& scan);

/// What a near field's beam may have. One: that is it; a flat wave's and the measured one: errors
/// of the first epochs decide (docs/methods/start_values.md).
std::vector<optics::FeatureMotion> possible_motions(const optics::FeatureMotion& measured);
/// What a far field's beam may have, the deck's first, where that is not what its patterns show.
/// One: that is it; more: errors of the first epochs decide (docs/methods/start_values.md).
std::vector<double> possible_defoci_m(const deck::Probe& probe, const ShownDefocus& shown);
/// The first starts unless another's error is less than so many times its own: beams are mostly
/// what the deck says, or flat, above all in focus.
double first_unless_below(const deck::Probe& probe, const ShownDefocus& shown);
inline constexpr double flat_unless_below = 0.98;

/// What was measured, for the person who reads.
std::string shadows_line(const optics::FeatureMotion& shadows, double shown_m);
std::string parallax_line(const optics::DiscParallax& parallax, double shown_m);
/// A scan that is turned, or mirrored, against its detector; empty: it is not.
std::string doubt_of_turn(const optics::ScanParallax& parallax);
std::string curvature_line(const optics::FeatureMotion& motion, const geometry::Optics& optics);

}  // namespace tessera::run
