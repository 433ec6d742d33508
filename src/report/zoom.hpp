#pragma once
/// `tessera inspect --deep-zoom`: a result's object as a page with tiles of every resolution.

#include <string>

#include "tessera/comm/communicator.hpp"

namespace tessera::report {

/// Writes index.html and, for the object and, where there are several, each of its slices and
/// modes, NAME_phase.dzi and NAME_amplitude.dzi with their folders of tiles. Each rank reads blocks
/// of the object; none holds more of it than a sample of some million pixels. The files do not
/// depend on the number of ranks. If it fails they are gone. Collective.
/// @param path a result
/// @param folder made if it does not exist; what this has written there before is replaced
/// @return the page
/// @throws AgreedError naming `path`, `folder` or the plotting library; of a folder that holds
/// other things
std::string write_zoom_page(const std::string& path, const std::string& folder,
                            const comm::Communicator& comm);

}  // namespace tessera::report
