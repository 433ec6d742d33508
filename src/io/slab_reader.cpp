#include <algorithm>
#include <array>
#include <filesystem>

#include <sys/stat.h>

#include "tessera/base/progress.hpp"
#include "tessera/base/text.hpp"

#include "deflated_chunks.hpp"
#include "hdf5_slab.hpp"

namespace tessera::io {

struct SlabReader::Handle {
  std::string path;
  std::string name;
  Hid dataset;
  Hid in_file;  ///< the dataset's space, in which slabs are selected
  Hid type;
  std::unique_ptr<DeflatedChunks> deflated;  ///< null: HDF5 reads all
};

SlabReader::SlabReader(const File& file, const std::string& name, ElementType memory_type) {
  reading(file.path(), [&] {
    Hid dataset = open_dataset(file.handle_->file, name);
    Hid space = checked(H5Dget_space(dataset), H5Sclose, "reading a dataset's shape");
    Hid type = hdf5_type(memory_type);
    auto deflated = DeflatedChunks::find(dataset, type);
    handle_ =
        std::make_unique<Handle>(Handle{file.path(), name, std::move(dataset), std::move(space),
                                        std::move(type), std::move(deflated)});
  });
}

SlabReader::~SlabReader() = default;

void SlabReader::read(std::span<const std::int64_t> begin, std::span<const std::int64_t> count,
                      void* values) const {
  constexpr std::size_t max_axes = 8;
  std::array<hsize_t, max_axes> first{};
  std::array<hsize_t, max_axes> sizes{};
  std::copy(begin.begin(), begin.end(), first.begin());
  std::copy(count.begin(), count.end(), sizes.begin());
  const Handle& from = *handle_;
  const Doing doing("reading a file");
  const FileAtWork at_work(from.path);
  if (from.deflated &&
      from.deflated->read({first.data(), count.size()}, {sizes.data(), count.size()}, values))
    return;
  const Hid in_memory(H5Screate_simple(static_cast<int>(count.size()), sizes.data(), nullptr),
                      H5Sclose);
  if (in_memory >= 0 &&
      H5Sselect_hyperslab(from.in_file, H5S_SELECT_SET, first.data(), nullptr, sizes.data(),
                          nullptr) >= 0 &&
      H5Dread(from.dataset, from.type, in_memory, from.in_file, H5P_DEFAULT, values) >= 0)
    return;
  const std::string reason = hdf5_reason();
  throw InputError(text("reading ",
                        slab_text({begin.begin(), begin.end()}, {count.begin(), count.end()}),
                        " of dataset \"", from.name, "\" of \"", from.path, "\" failed: ", reason,
                        doubt_about(from.dataset)));
}

std::int64_t File::bytes_on_disk() const {
  void* descriptor = nullptr;
  struct stat status{};
  if (H5Fget_vfd_handle(handle_->file, H5P_DEFAULT, &descriptor) < 0 ||
      fstat(*static_cast<int*>(descriptor), &status) != 0)
    throw SystemError(text("the size of \"", path(), "\" cannot be found"));
  return status.st_size;
}

}  // namespace tessera::io
