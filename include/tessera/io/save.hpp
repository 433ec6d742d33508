#pragma once
/// Saved states: two are kept, each with a checksum of its bytes. HDF5's own checksums (Fletcher32)
/// want its collective writes, which do not tell of a full disk (src/io/README.md): so the sum is
/// of the file as a whole, and lies behind the end that HDF5 knows.

#include <string>

#include "tessera/comm/communicator.hpp"
#include "tessera/io/hdf5.hpp"

namespace tessera::io {

/// Where the save before the one at `path` is kept.
std::string older_save(const std::string& path);

/// Appends its checksum to the partial file, which is closed, and commits it to `path`. Collective.
/// @param keeps_older what is at `path` becomes the older save; else there is none afterwards
/// @throws AgreedError
void commit_save(AtomicFile& file, const std::string& path, bool keeps_older,
                 const comm::Communicator& comm);

enum class Soundness {
  sound,      ///< or without a checksum
  damaged,    ///< its bytes are not those that were written
  unreadable  ///< missing, cut short, not HDF5
};

/// Each rank reads a share. Collective; the same on all ranks.
Soundness soundness_of(const std::string& path, const comm::Communicator& comm);

}  // namespace tessera::io
