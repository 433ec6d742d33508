#pragma once
/// From the deck's words to optics and probes.

#include "tessera/base/image_stack.hpp"
#include "tessera/geometry/pixel_size.hpp"
#include "tessera/optics/start_probe.hpp"

#include "deck/deck.hpp"

namespace tessera::optics {

/// Wavelength and object pixel of an experiment with a detector of this shape; for the near field
/// the distance to propagate as well.
/// @param experiment of a deck that `deck::check` has passed
/// @throws InputError if a far-field detector is not square
geometry::Optics optics_of(const deck::Experiment& experiment, Shape2 detector);

/// The deck's experiment with the detector pixels that reading leaves: data.bin of the file's.
deck::Experiment experiment_as_read(const deck::Deck& deck);

Aberrations aberrations(const deck::Probe& probe);

/// Object pixels that windows may leave the scan's hull by: half the travel of a fly scan, and what
/// position refinement may add; 1 for rounding.
int window_margin_px(const deck::Deck& deck, double pixel_m);
/// The same as long as the tiles are not cut anew.
int window_reach_px(const deck::Deck& deck, double pixel_m);

/// The probe that the deck's `aperture` or `zone_plate` makes, one mode, power 1. In the cone beam
/// of a near-field experiment without the curvature of a wave from `source_distance_m`, which the
/// scaling to a parallel beam has taken out.
/// @throws InputError if probe.initial is neither, or the optic does not fit
WaveStack optical_probe(const deck::Probe& probe, Shape2 window, const geometry::Optics& optics);
/// False: the probe starts from such an optic, which does not.
bool fits_window(const deck::Probe& probe, Shape2 window, const geometry::Optics& optics);

}  // namespace tessera::optics
