#pragma once
/// Formats of HDF5 files that say by themselves where everything is.

#include <optional>

#include "tessera/io/hdf5.hpp"

#include "scan_description.hpp"

namespace tessera::io {

// Each looks into the file; nothing if it is of another format.
std::optional<ScanDescription> describe_cxi(const File& file);        // describe_cxi.cpp
std::optional<ScanDescription> describe_dectris(const File& file);    // describe_dectris.cpp
std::optional<ScanDescription> describe_emd(const File& file);        // describe_emd.cpp
std::optional<ScanDescription> describe_nion(const File& file);       // describe_nion.cpp
std::optional<ScanDescription> describe_velox(const File& file);      // describe_velox.cpp
std::optional<ScanDescription> describe_ptypy(const File& file);      // describe_ptypy.cpp
std::optional<ScanDescription> describe_ptychodus(const File& file);  // describe_ptychodus.cpp
/// Any file with patterns, guessed from names and shapes: for `tessera init`.
std::optional<ScanDescription> describe_hdf5(const File& file);  // describe_hdf5.cpp

}  // namespace tessera::io
