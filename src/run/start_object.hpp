#pragma once
/// The object that a reconstruction starts from.

#include <string>

#include "tessera/run/scan.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/comm/communicator.hpp"
#include "tessera/deck/deck.hpp"
#include "tessera/physics/forward_model.hpp"

namespace tessera::run {

/// What is wrong with a file, with the key that named it in front. As collective as `work`.
template <class Work>
auto naming(const std::string& key, const Work& work) {
  try {
    return work();
  } catch (const InputError& error) {
    throw InputError(text(key, ": ", error.what()));
  } catch (const AgreedError& error) {
    throw AgreedError(error.exit_code(), text(key, ": ", error.what()));
  }
}

/// This rank's ghosted box, (n_object_modes n_slices, H, W), modes first, from the deck's [object]
/// or the result that run.resume names. What all slices together do is each one's n-th root; modes
/// are alike but for a small random phase, and 1 / sqrt(n_object_modes) of it. The same on any
/// number of ranks. Collective.
/// @param probe to start from, the same on all ranks
/// @throws AgreedError: a missing file or dataset, other object pixels or number of planes
void fill_start_object(const deck::Deck& deck, const Scan& scan, const WaveStack& probe,
                       const comm::Communicator& comm, const physics::ObjectView& object);

}  // namespace tessera::run
