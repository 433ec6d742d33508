#pragma once
/// Which beams a run may start with, by what its patterns say of curvature or defocus.

#include <string>
#include <vector>

#include "tessera/base/log.hpp"

#include "run/pattern_sample.hpp"

namespace tessera::run {

/// The start probe is made of an image, which does not show the curvature of a near field's wave,
/// or of any kind in a far field, whose beam has a defocus that the deck knows roughly, if at all.
bool measures_curvature(const deck::Deck& deck, const Scan& scan);

/// Scan::beam and, where the patterns leave it open, Scan::beams. Says what was found. Collective.
void find_possible_beams(const deck::Deck& deck, PatternSample& sample,
                         const comm::Communicator& comm, const Log& log, Scan& scan);

/// What the patterns of a far field say of the beam's defocus.
struct ShownDefocus {
  double defocus_m = 0;
  bool is_clear = false;
  bool is_near_focus = false;  ///< where it is not known well
  bool is_of_parallax = false;
};

/// What a near field's beam may have. One: that is it; a flat wave's and the measured one: errors
/// of trials decide (docs/methods/start_values.md).
std::vector<optics::FeatureMotion> possible_motions(const optics::FeatureMotion& measured);
/// What a far field's beam may have, the deck's first, where that is not what its patterns show.
/// One: that is it; more: errors of trials decide (docs/methods/start_values.md).
std::vector<double> possible_defoci_m(const deck::Probe& probe, const ShownDefocus& shown);

/// What the motion of patterns in a near field says, for the person who reads.
std::string curvature_line(const optics::FeatureMotion& motion, const geometry::Optics& optics);
/// A scan that is turned, or mirrored, against its detector; empty: it is not.
std::string doubt_of_turn(const optics::ScanParallax& parallax);

}  // namespace tessera::run
