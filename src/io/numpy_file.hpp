#pragma once
/// NumPy's files: one array (.npy), or several by name (.npz), as long as they are not compressed.

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/io/hdf5.hpp"

#include "number_type.hpp"

namespace tessera::io {

/// Where an array lies in a file, in C order.
struct NumpyArray {
  NumberType type;
  Extents extents;
  std::int64_t first_byte = 0;
};

/// By the first bytes: NumPy's own, or those of a zip archive.
bool is_numpy(const std::string& path);
bool is_numpy_archive(const std::string& path);

/// The arrays of an archive. @throws InputError
std::vector<std::string> numpy_names(const std::string& path);

/// @param name of an archive's array; means nothing in a file of one
/// @throws InputError: no such array, cut short, compressed, Fortran order, a type without numbers
NumpyArray find_numpy_array(const std::string& path, const std::string& name);

}  // namespace tessera::io
