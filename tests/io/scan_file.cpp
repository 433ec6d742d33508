#include "io/scan_file.hpp"

#include <cstdlib>
#include <fstream>
#include <functional>
#include <numeric>
#include <utility>

#include <gtest/gtest.h>

#include "tessera/base/error.hpp"

#include "support/keep_files.hpp"

namespace tessera::io::testing {

using tessera::testing::world;

TemporaryFolder::TemporaryFolder() {
  std::string made;
  on_root([&] {
    made = (std::filesystem::temp_directory_path() / "tessera_io_XXXXXX").string();
    if (!mkdtemp(made.data())) throw SystemError("no temporary folder");
  });
  world().broadcast(made);
  path_ = made;
}

TemporaryFolder::~TemporaryFolder() {
  world().barrier();
  if (world().is_root()) tessera::testing::remove_or_keep(path_);
}

void on_root(const std::function<void()>& work) {
  world().together([&] {
    if (world().is_root()) work();
  });
}

std::size_t size_of(const Sizes& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::size_t{1}, std::multiplies<>());
}

namespace {

void require(bool right, const char* what) {
  if (!right) throw SystemError(what);
}

}  // namespace

void add_dataset(const std::string& path, const std::string& name, const Storage& storage,
                 const std::vector<double>& values) {
  require(values.size() == size_of(storage.extents), "wrong number of values");
  const hid_t file = std::filesystem::exists(path)
                         ? H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)
                         : H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const int n_axes = static_cast<int>(storage.extents.size());
  const hid_t space = H5Screate_simple(n_axes, storage.extents.data(), nullptr);
  const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
  if (!storage.chunk.empty()) H5Pset_chunk(plist, n_axes, storage.chunk.data());
  if (storage.shuffle) H5Pset_shuffle(plist);
  if (storage.deflate > 0) H5Pset_deflate(plist, static_cast<unsigned>(storage.deflate));
  if (storage.filter != 0) H5Pset_filter(plist, storage.filter, H5Z_FLAG_MANDATORY, 0, nullptr);
  const hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  const hid_t dataset =
      H5Dcreate2(file, name.c_str(), storage.type, space, links, plist, H5P_DEFAULT);
  // HDF5 converts doubles to integers and enumerations of integers, not to booleans of h5py.
  const bool is_enum = H5Tget_class(storage.type) == H5T_ENUM;
  std::vector<signed char> booleans;
  if (is_enum) booleans.assign(values.begin(), values.end());
  const herr_t written =
      is_enum ? H5Dwrite(dataset, storage.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, booleans.data())
              : H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(dataset);
  H5Pclose(links);
  H5Pclose(plist);
  H5Sclose(space);
  H5Fclose(file);
  require(written >= 0, "test data could not be written");
}

void damage_chunk(const std::string& path, const std::string& name, hsize_t index) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  const hid_t space = H5Dget_space(dataset);
  std::vector<hsize_t> offset(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
  unsigned mask = 0;
  haddr_t address = 0;
  hsize_t n_bytes = 0;
  const herr_t found =
      H5Dget_chunk_info(dataset, space, index, offset.data(), &mask, &address, &n_bytes);
  H5Sclose(space);
  H5Dclose(dataset);
  H5Fclose(file);
  require(found >= 0, "no such chunk");
  std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(static_cast<std::streamoff>(address));
  for (hsize_t i = 0; i < n_bytes; ++i) bytes.put('\x5a');
}

double encoded(int position, int y, int x) {
  return (position * 31 + y * 7 + x + 1) % 101;
}

std::vector<double> encoded_patterns(int n_positions, Shape2 shape, double scale) {
  std::vector<double> values;
  for (int p = 0; p < n_positions; ++p)
    for (int y = 0; y < shape.h; ++y)
      for (int x = 0; x < shape.w; ++x) values.push_back(scale * encoded(p, y, x));
  return values;
}

std::string agreed_error(const std::function<void()>& work) {
  std::string message;
  try {
    work();
  } catch (const AgreedError& error) {
    message = error.what();
    EXPECT_EQ(error.exit_code(), ExitCode::bad_input) << message;
  }
  EXPECT_FALSE(message.empty()) << "nothing was thrown";
  std::string of_root = message;
  world().broadcast(of_root);
  EXPECT_EQ(message, of_root);
  return message;
}

std::vector<int> positions_of(const std::vector<int>& owner, int rank) {
  std::vector<int> positions;
  for (std::size_t p = 0; p < owner.size(); ++p)
    if (owner[p] == rank) positions.push_back(static_cast<int>(p));
  return positions;
}

namespace {

std::int64_t n_decoded = 0;

std::size_t count_decoding(unsigned flags, std::size_t, const unsigned*, std::size_t n_bytes,
                           std::size_t*, void**) {
  if (flags & H5Z_FLAG_REVERSE) ++n_decoded;
  return n_bytes;
}

}  // namespace

CountingFilter::CountingFilter() {
  const H5Z_class2_t filter{H5Z_CLASS_T_VERS, id,      1,       1,
                            "counting",       nullptr, nullptr, count_decoding};
  EXPECT_GE(H5Zregister(&filter), 0);
  n_decoded = 0;
}

CountingFilter::~CountingFilter() {
  H5Zunregister(id);
}

std::int64_t CountingFilter::take_count() {
  return std::exchange(n_decoded, 0);
}

void add_counted_patterns(const std::string& path, const std::string& name, hid_t type) {
  add_dataset(
      path, name,
      {.extents = {9, 10, 5, 6}, .type = type, .chunk = {2, 3, 5, 6}, .filter = CountingFilter::id},
      encoded_patterns(90, {5, 6}, 1));
}

}  // namespace tessera::io::testing
