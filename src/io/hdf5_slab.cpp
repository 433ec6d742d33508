#include "hdf5_slab.hpp"

#include <algorithm>
#include <array>

#include "tessera/base/error.hpp"
#include "tessera/base/progress.hpp"
#include "tessera/base/text.hpp"

namespace tessera::io {

std::int64_t n_elements(const Extents& extents) {
  std::int64_t n = 1;
  for (const std::int64_t extent : extents)
    if (__builtin_mul_overflow(n, extent, &n))
      throw InputError(text("a dataset of ", slab_text(Extents(extents.size(), 0), extents),
                            " has more elements than 64 bits can count"));
  return n;
}

Hid open_dataset(hid_t file, const std::string& name) {
  return checked(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose,
                 text("opening dataset \"", name, '"'));
}

Extents extents_of(hid_t dataset) {
  const Hid space = checked(H5Dget_space(dataset), H5Sclose, "reading a dataset's shape");
  const int n_axes = check_hdf5(H5Sget_simple_extent_ndims(space), "reading a dataset's shape");
  std::vector<hsize_t> sizes(static_cast<std::size_t>(n_axes));
  check_hdf5(H5Sget_simple_extent_dims(space, sizes.data(), nullptr), "reading a dataset's shape");
  return {sizes.begin(), sizes.end()};
}

Hid transfer_mode(bool collective) {
  Hid transfer = checked(H5Pcreate(H5P_DATASET_XFER), H5Pclose, "preparing a transfer");
  if (collective)
    check_hdf5(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE), "preparing a transfer");
  return transfer;
}

SlabSpaces slab_spaces(hid_t dataset, const Extents& begin, const Extents& count) {
  const std::vector<hsize_t> first(begin.begin(), begin.end());
  const std::vector<hsize_t> sizes(count.begin(), count.end());
  const int n_axes = static_cast<int>(sizes.size());
  SlabSpaces spaces{
      checked(H5Dget_space(dataset), H5Sclose, "selecting a hyperslab"),
      checked(H5Screate_simple(n_axes, sizes.data(), nullptr), H5Sclose, "selecting a hyperslab")};
  if (n_elements(count) == 0) {
    check_hdf5(H5Sselect_none(spaces.file), "selecting nothing");
    check_hdf5(H5Sselect_none(spaces.memory), "selecting nothing");
  } else if (n_axes > 0) {
    check_hdf5(H5Sselect_hyperslab(spaces.file, H5S_SELECT_SET, first.data(), nullptr, sizes.data(),
                                   nullptr),
               "selecting a hyperslab");
  }
  return spaces;
}

void check_slab(hid_t file, const std::string& path, const std::string& name, const Extents& begin,
                const Extents& count) {
  const Extents extents = extents_of(open_dataset(file, name));
  bool inside = begin.size() == extents.size() && count.size() == extents.size();
  for (std::size_t i = 0; inside && i < extents.size(); ++i)
    inside = begin[i] >= 0 && count[i] >= 0 && begin[i] + count[i] <= extents[i];
  if (!inside)
    throw InputError(text(slab_text(begin, count), " is outside dataset \"", name, "\" of \"", path,
                          "\", which is ", slab_text(Extents(extents.size(), 0), extents)));
}

void read_hyperslab(hid_t file, const std::string& path, const std::string& name,
                    const Extents& begin, const Extents& count, ElementType memory_type,
                    void* values, hid_t transfer) {
  const Doing doing("reading a file");
  const Hid dataset = open_dataset(file, name);
  const SlabSpaces spaces = slab_spaces(dataset, begin, count);
  const Hid type = hdf5_type(memory_type);
  if (H5Dread(dataset, type, spaces.memory, spaces.file, transfer, values) >= 0) return;
  const std::string reason = hdf5_reason();
  throw InputError(text("reading ", slab_text(begin, count), " of dataset \"", name, "\" of \"",
                        path, "\" failed: ", reason, doubt_about(dataset)));
}

std::string doubt_about(hid_t dataset) {
  constexpr H5Z_filter_t bitshuffle = 32008;
  constexpr std::size_t compressor = 4;  // place among the filter's parameters
  constexpr unsigned zstandard = 3;
  std::array<unsigned, compressor + 1> parameters{};
  std::size_t n = parameters.size();
  unsigned flags = 0;
  const Hid plist = checked(H5Dget_create_plist(dataset), H5Pclose, "reading a dataset's layout");
  const herr_t got =
      H5Pget_filter_by_id2(plist, bitshuffle, &flags, &n, parameters.data(), 0, nullptr, nullptr);
  if (got < 0 || n <= compressor || parameters[compressor] != zstandard)
    return "; is the file damaged?";
  return "; it is compressed with bitshuffle and Zstandard, which Debian's plugin does not know: "
         "pip install hdf5plugin, and point HDF5_PLUGIN_PATH to its folder hdf5plugin/plugins";
}

std::string slab_text(const Extents& begin, const Extents& count) {
  std::vector<std::string> axes;
  for (std::size_t i = 0; i < begin.size() && i < count.size(); ++i)
    axes.push_back(text('[', begin[i], ", ", begin[i] + count[i], ')'));
  return joined(axes);
}

}  // namespace tessera::io
