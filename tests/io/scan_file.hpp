#pragma once
/// Files for the tests of io, written with plain HDF5 calls by rank 0.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <hdf5.h>

#include "io/scan_reader.hpp"
#include "support/world.hpp"

namespace tessera::io::testing {

using Sizes = std::vector<hsize_t>;

/// A new folder that all ranks know; removed with the object. Collective.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// Rank 0 works, the others wait. Collective.
void on_root(const std::function<void()>& work);

/// How a dataset is stored.
struct Storage {
  Sizes extents;
  hid_t type = H5T_NATIVE_DOUBLE;
  Sizes chunk = {};
  int deflate = 0;
  H5Z_filter_t filter = 0;  ///< another filter, if not 0
  bool shuffle = false;     ///< before deflate
};

/// For datasets: a filter that only counts how often a chunk is decoded in this process. HDF5 knows
/// it as long as the object lives.
class CountingFilter {
 public:
  static constexpr H5Z_filter_t id = 301;
  CountingFilter();
  ~CountingFilter();
  CountingFilter(const CountingFilter&) = delete;
  CountingFilter& operator=(const CountingFilter&) = delete;
  /// Chunks decoded since the last call.
  std::int64_t take_count();
};

/// Adds a dataset to the file at `path`, which is made if it is missing. Values are converted.
void add_dataset(const std::string& path, const std::string& name, const Storage& storage,
                 const std::vector<double>& values);

std::size_t size_of(const Sizes& extents);

/// Turns the bytes of chunk `index` of a compressed dataset over.
void damage_chunk(const std::string& path, const std::string& name, hsize_t index);

/// A value that differs between the scan positions and pixels of a small scan.
double encoded(int position, int y, int x);
std::vector<double> encoded_patterns(int n_positions, Shape2 shape, double scale);
/// 9 x 10 encoded patterns of 5 x 6 pixels in chunks of 2 x 3 patterns, through CountingFilter.
void add_counted_patterns(const std::string& path, const std::string& name, hid_t type);

/// What `work` throws on every rank: its message, the same everywhere, with exit code bad_input.
/// Empty, with a failed expectation, if not. Collective.
std::string agreed_error(const std::function<void()>& work);

/// Scan positions of `rank`, ascending.
std::vector<int> positions_of(const std::vector<int>& owner, int rank);

}  // namespace tessera::io::testing
