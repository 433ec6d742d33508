#pragma once
/// `tessera look`: what a scan's patterns show before anything is reconstructed.

#include <string>

#include "tessera/comm/communicator.hpp"
#include "tessera/io/hdf5.hpp"

namespace tessera::analysis {

/// Reads every pattern once, each rank its share. Mean and greatest pattern, images of the scan
/// (all counts, bright field, dark field, centre of mass, its divergence and the potential whose
/// gradient it is), where the scan went, and what stands out.
/// @param folder for pictures; empty: none
/// @return lines, on rank 0
/// Collective. @throws AgreedError
std::string look(const std::string& path, const std::string& folder, const comm::Communicator& comm,
                 io::Links links = io::Links::beside);

}  // namespace tessera::analysis
