#pragma once
/// From the deck's words to optics and probes.

#include "tessera/base/image_stack.hpp"
#include "tessera/deck/deck.hpp"
#include "tessera/geometry/experiment.hpp"
#include "tessera/physics/start_probe.hpp"

namespace tessera::app {

/// Wavelength and object pixel of an experiment with a far-field detector of this shape.
/// @param experiment of a deck that `deck::check` has passed
/// @throws InputError if the detector is not square
geometry::Optics far_field_optics(const deck::Experiment& experiment, Shape2 detector);

/// The deck's experiment with the detector pixels that reading leaves: data.bin of the file's.
deck::Experiment experiment_as_read(const deck::Deck& deck);

physics::Aberrations aberrations(const deck::Probe& probe);

/// The probe that the deck's `aperture` or `zone_plate` makes, one mode, power 1.
/// @throws InputError if probe.initial is neither, or the optic does not fit
WaveStack optical_probe(const deck::Probe& probe, Shape2 window, const geometry::Optics& optics);

}  // namespace tessera::app
