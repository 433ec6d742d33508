#pragma once
/// The file of a simulated scan.

#include "tessera/comm/communicator.hpp"
#include "tessera/io/hdf5.hpp"

#include "simulated_detector.hpp"

namespace tessera::simulation {

/// Upper bound of what the file needs on disk.
std::int64_t file_bytes(const SimulatedScan& scan);

/// Write the scan to `path`, with the dataset names of the deck. Collective.
/// @param patterns this rank's share, zero frequency at [0, 0]
/// @param type in which patterns are stored
void write_simulation(const std::string& path, const deck::Deck& deck, const SimulatedScan& scan,
                      const ImageStack<double>& patterns, Share share, io::ElementType type,
                      const comm::Communicator& comm);

}  // namespace tessera::simulation
