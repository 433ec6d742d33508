#pragma once
/// `tessera convert`: results and scans as files of other programs.

#include <string>

#include "tessera/comm/communicator.hpp"
#include "tessera/io/hdf5.hpp"

namespace tessera::analysis {

/// A result to .cxi, .ptyr, .npz, .mat or .tif, as the ending of `out` says; a scan of any format
/// to .cxi. `out` appears whole or not at all. Rank 0 works; it holds a result whole, of a scan 64
/// MiB at a time. Collective.
/// @return what was written, lines
/// @throws AgreedError: an ending that is not known or does not go with what `path` is, `out` is
/// `path`, what reading and writing throw
std::string convert(const std::string& path, const std::string& out, const comm::Communicator& comm,
                    io::Links links = io::Links::beside);

}  // namespace tessera::analysis
