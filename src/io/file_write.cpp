#include <algorithm>

#include "tessera/base/error.hpp"
#include "tessera/base/progress.hpp"
#include "tessera/base/text.hpp"

#include "hdf5_handle.hpp"
#include "hdf5_slab.hpp"

namespace tessera::io {
namespace {

/// Makes the groups on the way to a new object.
Hid with_groups() {
  Hid plist = checked(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "preparing a name");
  check_hdf5(H5Pset_create_intermediate_group(plist, 1), "preparing a name");
  check_hdf5(H5Pset_char_encoding(plist, H5T_CSET_UTF8), "preparing a name");
  return plist;
}

Hid space_of(const Extents& extents) {
  const std::vector<hsize_t> sizes(extents.begin(), extents.end());
  if (sizes.empty()) return checked(H5Screate(H5S_SCALAR), H5Sclose, "making a shape");
  return checked(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose,
                 "making a shape");
}

/// Contiguous, with its place in the file, and not filled: every value is written once, by its
/// owner.
void make_dataset(hid_t file, const std::string& path, const std::string& name,
                  const Extents& extents, hid_t type) {
  const Hid unfilled = checked(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "preparing a dataset");
  check_hdf5(H5Pset_fill_time(unfilled, H5D_FILL_TIME_NEVER), "preparing a dataset");
  check_hdf5(H5Pset_alloc_time(unfilled, H5D_ALLOC_TIME_EARLY), "preparing a dataset");
  const Hid space = space_of(extents);
  checked(H5Dcreate2(file, name.c_str(), type, space, with_groups(), unfilled, H5P_DEFAULT),
          H5Dclose, text("making dataset \"", name, "\" in \"", path, '"'));
}

void write_hyperslab(hid_t file, const std::string& path, const std::string& name,
                     const Extents& begin, const Extents& count, hid_t type, const void* values) {
  const Doing doing("writing a file");
  const Hid dataset = open_dataset(file, name);
  const SlabSpaces spaces = slab_spaces(dataset, begin, count);
  check_hdf5(
      H5Dwrite(dataset, type, spaces.memory, spaces.file, H5P_DEFAULT, values),
      text("writing ", slab_text(begin, count), " of dataset \"", name, "\" of \"", path, '"'));
}

void write_whole(hid_t file, const std::string& path, const std::string& name, hid_t type,
                 const void* values) {
  check_hdf5(H5Dwrite(open_dataset(file, name), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values),
             text("writing dataset \"", name, "\" of \"", path, '"'));
}

void write_attribute(hid_t file, const std::string& path, const std::string& object,
                     const std::string& name, hid_t type, const void* value) {
  const std::string what =
      text("writing attribute \"", name, "\" of \"", object, "\" in \"", path, '"');
  if (H5Aexists_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT) > 0)
    check_hdf5(H5Adelete_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT), what);
  const Hid attribute =
      checked(H5Acreate_by_name(file, object.c_str(), name.c_str(), type, space_of({}), H5P_DEFAULT,
                                H5P_DEFAULT, H5P_DEFAULT),
              H5Aclose, what);
  check_hdf5(H5Awrite(attribute, type, value), what);
}

}  // namespace

void File::create_group(const std::string& name) {
  handle_->make([&] {
    checked(H5Gcreate2(handle_->file, name.c_str(), with_groups(), H5P_DEFAULT, H5P_DEFAULT),
            H5Gclose, text("making group \"", name, "\" in \"", path(), '"'));
  });
}

void File::link(const std::string& name, const std::string& target) {
  handle_->make([&] {
    check_hdf5(
        H5Lcreate_soft(target.c_str(), handle_->file, name.c_str(), with_groups(), H5P_DEFAULT),
        text("making link \"", name, "\" in \"", path(), '"'));
  });
}

void File::create_dataset(const std::string& name, const Extents& extents, ElementType type) {
  handle_->make([&] { make_dataset(handle_->file, path(), name, extents, hdf5_type(type)); });
}

// By each rank alone: Open MPI's collective writes do not tell of a full disk, or leave the other
// ranks inside.
void File::write_slab(const std::string& name, const Extents& begin, const Extents& count,
                      ElementType memory_type, const void* values) {
  handle_->enter(Phase::values);
  handle_->agreed([&] { check_slab(handle_->file, path(), name, begin, count); });
  handle_->agreed([&] {
    write_hyperslab(handle_->file, path(), name, begin, count, hdf5_type(memory_type), values);
  });
}

void File::write_doubles(const std::string& name, const Extents& extents,
                         const std::vector<double>& values) {
  if (static_cast<std::int64_t>(values.size()) != n_elements(extents))
    throw SystemError(text("dataset \"", name, "\" gets ", values.size(), " values for ",
                           n_elements(extents), " places"));
  create_dataset(name, extents, ElementType::f64);
  handle_->make([&] {
    write_whole(handle_->file, path(), name, hdf5_type(ElementType::f64), values.data());
  });
}

void File::write_text(const std::string& name, const std::string& text) {
  const Hid type = hdf5_text_type(std::max<std::size_t>(1, text.size()));
  handle_->make([&] {
    make_dataset(handle_->file, path(), name, {}, type);
    write_whole(handle_->file, path(), name, type, text.c_str());
  });
}

void File::set_attribute(const std::string& object, const std::string& name, double value) {
  handle_->make([&] {
    write_attribute(handle_->file, path(), object, name, hdf5_type(ElementType::f64), &value);
  });
}

void File::set_attribute(const std::string& object, const std::string& name,
                         const std::string& value) {
  // Of variable length: the kind that h5py hands out as str.
  const char* characters = value.c_str();
  handle_->make([&] {
    write_attribute(handle_->file, path(), object, name, hdf5_text_type(H5T_VARIABLE),
                    static_cast<const void*>(&characters));
  });
}

}  // namespace tessera::io
