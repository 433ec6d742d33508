#pragma once
/// Numbers in a file, as a type of a few bytes.

#include <string>
#include <vector>

#include "tessera/io/hdf5.hpp"

namespace tessera::testing {

inline void write_values(io::File& file, const std::string& name, const io::Extents& extents,
                         io::ElementType type, const std::vector<double>& values) {
  file.create_dataset(name, extents, type);
  file.write_slab(name, io::Extents(extents.size(), 0), extents, io::ElementType::f64,
                  values.data());
}

}  // namespace tessera::testing
