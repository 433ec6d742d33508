#pragma once
/// The object that a reconstruction starts from.

#include "tessera/comm/communicator.hpp"

#include "deck/deck.hpp"
#include "physics/forward_model.hpp"
#include "run/scan.hpp"

namespace tessera::run {

/// This rank's ghosted box, (n_object_modes n_slices, H, W), modes first, from the deck's [object]
/// or the result that run.resume names. What all slices together do is each one's n-th root; modes
/// are alike but for a small random phase, and 1 / sqrt(n_object_modes) of it. The same on any
/// number of ranks. Collective.
/// @param probe to start from, the same on all ranks
/// @throws AgreedError: a missing file or dataset, other object pixels or number of planes
void fill_start_object(const deck::Deck& deck, const Scan& scan, const WaveStack& probe,
                       const comm::Communicator& comm, const physics::ObjectView& object);

}  // namespace tessera::run
