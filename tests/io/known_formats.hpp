#pragma once
/// Files as others write them hold the same scan as a plain HDF5 file: positions, mask, patterns.

#include <algorithm>
#include <cstring>
#include <fstream>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/all_patterns.hpp"
#include "io/linked_file.hpp"
#include "io/scan_file.hpp"
#include "io/scan_format.hpp"

namespace tessera::io::testing {

using tessera::testing::add_link;
using tessera::testing::world;
using tessera::testing::write_link;

inline constexpr int n_positions = 9;
inline const Shape2 shape{5, 6};
inline constexpr hsize_t n = n_positions;

inline Vec2 position(int p) {
  return {1e-6 * p, -2e-6 * p + 1e-7};
}

/// Some numbers of every position, one after another.
template <class NumbersOf>
std::vector<double> of_all(const NumbersOf& numbers_of) {
  std::vector<double> all;
  for (int p = 0; p < n_positions; ++p)
    for (const double value : numbers_of(position(p))) all.push_back(value);
  return all;
}

using Numbers = std::vector<double>;

inline Numbers patterns(int begin, int end) {
  const Numbers all = encoded_patterns(n_positions, shape, 1);
  return {all.begin() + begin * shape.size(), all.begin() + end * shape.size()};
}

inline void add_text(const std::string& path, const std::string& object, const std::string& name,
                     const std::string& value) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, value.size() + 1);
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate_by_name(file, object.c_str(), name.c_str(), type, space,
                                            H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, value.c_str());
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
  H5Fclose(file);
}

template <class T>
void append(std::string& bytes, T value, bool big_endian = false) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  if (big_endian) std::reverse(raw, raw + sizeof(T));
  bytes.append(raw, sizeof(T));
}

class KnownFormats : public ::testing::Test {
 protected:
  void add(const std::string& name, const Storage& storage, const Numbers& values) {
    add_dataset(path_, name, storage, values);
  }
  void add_number(const std::string& name, double value) { add(name, {.extents = {1}}, {value}); }
  void write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  /// Patterns, positions and a mask that leaves out pixel (0, 0), as every file here holds them.
  void expect_the_scan(const std::string& format, bool has_positions = true) {
    const ScanInfo info = read_scan_info(source_, world());
    EXPECT_EQ(info.format->name, format);
    ASSERT_EQ(info.n_positions, n_positions);
    EXPECT_EQ(info.type, PatternType::u16);
    const bool has_mask = info.valid_pixels(0, 0, 0) == 0;
    EXPECT_EQ(std::accumulate(info.valid_pixels.begin(), info.valid_pixels.end(), 0),
              shape.size() - has_mask);
    ASSERT_EQ(info.positions_m.size(), std::size_t(has_positions ? n_positions : 0));
    for (std::size_t p = 0; p < info.positions_m.size(); ++p) {
      EXPECT_DOUBLE_EQ(info.positions_m[p].y, position(static_cast<int>(p)).y);
      EXPECT_DOUBLE_EQ(info.positions_m[p].x, position(static_cast<int>(p)).x);
    }
    std::vector<int> owner;
    for (int p = 0; p < n_positions; ++p) owner.push_back((p * 5 + 1) % world().size());
    const std::vector<int> mine = positions_of(owner, world().rank());
    const AllPatterns read = read_all(source_, info, owner, mine, world(), 1);
    const auto* values = reinterpret_cast<const std::uint16_t*>(read.values.data());
    for (const int p : mine)
      for (int y = 0; y < shape.h; ++y)
        for (int x = 0; x < shape.w; ++x)
          EXPECT_EQ(*values++, has_mask && y + x == 0 ? 0 : encoded(p, y, x)) << p;
    double bytes_read = static_cast<double>(read.bytes_read);
    world().sum(std::span(&bytes_read, 1));
    EXPECT_EQ(bytes_read, 2.0 * n_positions * shape.h * shape.w) << "each byte once";
  }

  /// What the source's file says, for decks.
  ScanDescription description() {
    ScanSource source{.path = source_.path, .patterns = "", .positions = {}, .valid_pixels = {}};
    return *find_format(source).describe(source);
  }

  /// A master file and two files of frames.
  void write_dectris() {
    on_root([&] {
      add_dataset(folder_.file("scan_data_000001.h5"), "entry/data/data",
                  {{4, 5, 6}, H5T_STD_U16LE, {1, 5, 6}, 1}, patterns(0, 4));
      add_dataset(folder_.file("scan_data_000002.h5"), "entry/data/data",
                  {{5, 5, 6}, H5T_STD_U16LE, {1, 5, 6}, 1}, patterns(4, 9));
      Numbers mask(30, 0);
      mask[0] = 2;
      add("entry/instrument/detector/detectorSpecific/pixel_mask", {{5, 6}, H5T_STD_U32LE}, mask);
      add_number("entry/instrument/beam/incident_wavelength", 1.5498024804150032);
      add_number("entry/instrument/detector/x_pixel_size", 75e-6);
      add_number("entry/instrument/detector/saturation_value", 4294967295);
      add_link(path_, "entry/data/data_000001", "scan_data_000001.h5", "/entry/data/data");
      add_link(path_, "entry/data/data_000002", "scan_data_000002.h5", "/entry/data/data");
    });
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.file("scan.h5");
  ScanSource source_{path_, "patterns", "positions_m", {}, false};
};

/// A statement of a description: its key, and how its value begins.
inline ::testing::Matcher<std::vector<Statement>> says(const std::string& key,
                                                       const std::string& value) {
  return ::testing::Contains(
      ::testing::AllOf(::testing::Field(&Statement::key, key),
                       ::testing::Field(&Statement::value, ::testing::StartsWith(value))));
}

}  // namespace tessera::io::testing
