#pragma once
/// Whether a file holds what a dataset's shape promises.

#include <string>

#include "tessera/io/hdf5.hpp"

namespace tessera::io {

/// A shape is a few bytes, whatever it says: memory and time are for what the file holds.
/// @param name of the dataset of the file at `path`
/// @throws InputError
void check_holds_values(const std::string& path, const std::string& name, const DatasetInfo& info);

}  // namespace tessera::io
