#pragma once
/// Saved states: two are kept, each with a checksum of its bytes. HDF5's own checksums (Fletcher32)
/// want its collective writes, which do not tell of a full disk (src/io/README.md): so the sum is
/// of the file as a whole, and lies behind the end that HDF5 knows.

#include <functional>
#include <string>

#include "tessera/comm/communicator.hpp"
#include "tessera/io/hdf5.hpp"

namespace tessera::io {

/// Whether what is at `path` may be lost: nothing, an empty file, or one of ours, sound or not.
/// @param is_ours whether an HDF5 file is
/// @throws InputError naming `key` and path
void check_replaceable(const std::string& path, const std::string& key,
                       const std::function<bool(const File&)>& is_ours);

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
