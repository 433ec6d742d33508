#pragma once
/// Where a dataset's values really lie, and what is needed to read them.

#include <string>

#include "hdf5_handle.hpp"

namespace tessera::io {

/// The one place that says which files may hold the values of a dataset of the file at `path`: as
/// external storage, behind external links, as sources of virtual datasets and of these in turn.
/// @throws InputError naming the file that may not, or is not there
void check_reach(hid_t dataset, const std::string& path, Links links);

/// Sets chunk, is_virtual, missing_filters and missing_files of `info`, whose extents and bytes are
/// known.
/// @param path of the file that was opened
/// @throws InputError: it says that it takes more bytes than its file has
void describe_storage(hid_t dataset, const std::string& path, DatasetInfo& info);

/// "; "a/b" is a link to ..., which is not there" if such a link is on the way to `name`; else
/// empty.
std::string link_to_nowhere(hid_t file, const std::string& name);

/// What to do where a compression filter is missing, by HDF5's number of it.
std::string filter_remedy(H5Z_filter_t filter);

}  // namespace tessera::io
