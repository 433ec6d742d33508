#pragma once
/// Hyperslabs of datasets.

#include "hdf5_handle.hpp"

namespace tessera::io {

std::int64_t n_elements(const Extents& extents);
Hid open_dataset(hid_t file, const std::string& name);
Extents extents_of(hid_t dataset);

/// How values move: all ranks together, or each by itself.
Hid transfer_mode(bool collective);

/// The selections of a hyperslab in the file and, packed, in memory. Empty if a count is 0.
struct SlabSpaces {
  Hid file;
  Hid memory;
};
SlabSpaces slab_spaces(hid_t dataset, const Extents& begin, const Extents& count);

/// @throws InputError unless dataset `name` exists and [begin, begin + count) lies inside it
void check_slab(hid_t file, const std::string& path, const std::string& name, const Extents& begin,
                const Extents& count);

/// @throws InputError naming file, dataset, slab and HDF5's reason: damaged data are bad input
void read_hyperslab(hid_t file, const std::string& path, const std::string& name,
                    const Extents& begin, const Extents& count, ElementType memory_type,
                    void* values, hid_t transfer);

/// What else may be wrong if HDF5 cannot read a dataset that it found, for the end of a message.
std::string doubt_about(hid_t dataset);

/// `[0, 4), [2, 6)`
std::string slab_text(const Extents& begin, const Extents& count);

}  // namespace tessera::io
