#pragma once
/// Formats of HDF5 files that say by themselves where everything is.

#include <memory>
#include <optional>
#include <string_view>

#include "tessera/io/hdf5.hpp"

#include "scan_description.hpp"
#include "scan_format.hpp"

namespace tessera::io {

/// Looks into the file; nothing if it is of another format.
using Describe = std::optional<ScanDescription> (*)(const File&);

bool is_described(const ScanSource& source, Describe describe);
std::unique_ptr<ScanReader> open_described(const ScanSource& source, const comm::Communicator* comm,
                                           Describe describe);

/// The format whose files `describe` knows.
template <Describe describe>
ScanFormat described(std::string_view name) {
  return {name, "an HDF5 file",
          [](const ScanSource& source) { return is_described(source, describe); },
          [](const ScanSource& source, const comm::Communicator* comm) {
            return open_described(source, comm, describe);
          },
          [](const ScanSource& source) { return describe(File::open(source.path, source.links)); }};
}

/// Any file with patterns, guessed from names and shapes: for `tessera init`.
std::optional<ScanDescription> describe_hdf5(const File& file);  // describe_hdf5.cpp
/// Where its positions are, by names, shapes and units.
void guess_positions(const File& file, std::int64_t n_positions, ScanDescription& scan);

}  // namespace tessera::io
