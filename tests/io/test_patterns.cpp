#include <atomic>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include "tessera/base/error.hpp"
#include "tessera/io/hdf5.hpp"

#include "io/all_patterns.hpp"
#include "io/layouts.hpp"
#include "io/scan_file.hpp"

namespace tessera::io {
namespace {

using namespace testing;
using tessera::testing::world;

const Shape2 shape{5, 6};

Sizes with_pattern(Sizes scan) {
  scan.push_back(static_cast<hsize_t>(shape.h));
  scan.push_back(static_cast<hsize_t>(shape.w));
  return scan;
}

/// Every pixel of every own pattern is what `encoded` says, wherever it was read.
template <class T>
void expect_encoded(const AllPatterns& patterns, const std::vector<int>& positions, double scale,
                    bool centred) {
  const auto* values = reinterpret_cast<const T*>(patterns.values.data());
  ASSERT_EQ(patterns.values.size(), positions.size() * shape.size() * sizeof(T));
  int wrong = 0;
  for (const int position : positions)
    for (int y = 0; y < shape.h; ++y)
      for (int x = 0; x < shape.w; ++x) {
        // Zero frequency of a centred pattern is at (2, 3) of 5 x 6.
        const double value =
            centred ? encoded(position, (y + 2) % 5, (x + 3) % 6) : encoded(position, y, x);
        if (static_cast<double>(*values++) != scale * value) ++wrong;
      }
  EXPECT_EQ(wrong, 0);
}

void expect_encoded(PatternType type, const AllPatterns& patterns,
                    const std::vector<int>& positions, double scale, bool centred) {
  EXPECT_EQ(patterns.type, type);
  switch (type) {
    case PatternType::u8:
      return expect_encoded<std::uint8_t>(patterns, positions, scale, centred);
    case PatternType::u16:
      return expect_encoded<std::uint16_t>(patterns, positions, scale, centred);
    case PatternType::u32:
      return expect_encoded<std::uint32_t>(patterns, positions, scale, centred);
    case PatternType::f32:
      return expect_encoded<float>(patterns, positions, scale, centred);
  }
}

/// Random owners, the same on all ranks; with `idle_root` rank 0 has none (if there is another).
std::vector<int> random_owners(int n_positions, bool idle_root) {
  std::mt19937 random(7);
  const int first = idle_root && world().size() > 1 ? 1 : 0;
  std::vector<int> owner;
  for (int p = 0; p < n_positions; ++p)
    owner.push_back(first +
                    static_cast<int>(random() % static_cast<unsigned>(world().size() - first)));
  return owner;
}

std::int64_t sum_over_ranks(std::int64_t value) {
  world().sum(std::span(&value, 1));
  return value;
}

/// Over the positions of a scan with scale 600.
double sum_of_pixel(int n_positions, Pixel pixel) {
  double sum = 0;
  for (int p = 0; p < n_positions; ++p) sum += 600 * encoded(p, pixel.y, pixel.x);
  return sum;
}

class PatternsOf : public ::testing::TestWithParam<Layout> {};

TEST_P(PatternsOf, ArriveAtTheirOwnersOnce) {
  const Layout& layout = GetParam();
  const int n_positions = static_cast<int>(size_of(layout.scan));
  const TemporaryFolder folder;
  const std::string path = folder.file("scan.h5");
  on_root([&] {
    add_dataset(path, "entry/data",
                {with_pattern(layout.scan), H5T_STD_U16LE, layout.chunk, layout.deflate},
                encoded_patterns(n_positions, shape, 600));
  });
  double total = 0;
  for (const double v : encoded_patterns(n_positions, shape, 600)) total += v;

  for (const bool centred : {true, false}) {
    const ScanSource source{path, "entry/data", {}, {}, centred};
    const ScanInfo info = read_scan_info(source, world());
    EXPECT_EQ(info.n_positions, n_positions);
    EXPECT_EQ(info.raster.size(), layout.scan.size() == 2 ? 2u : 0u);
    EXPECT_EQ(info.pattern, shape);
    for (const bool idle_root : {true, false})
      for (const std::int64_t piece_bytes : {1, 500, 1 << 20}) {
        const std::vector<int> owner = random_owners(n_positions, idle_root);
        const std::vector<int> mine = positions_of(owner, world().rank());
        const AllPatterns patterns = read_all(source, info, owner, mine, world(), piece_bytes);
        expect_encoded(PatternType::u16, patterns, mine, 600, centred);
        EXPECT_EQ(sum_over_ranks(patterns.bytes_read), n_positions * shape.size() * 2);
        EXPECT_EQ(patterns.total_counts, total);
        EXPECT_TRUE(patterns.all_zero.empty());
        EXPECT_EQ(patterns.sum(0, 4, 5),
                  sum_of_pixel(n_positions, centred ? Pixel{1, 2} : Pixel{4, 5}));
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, PatternsOf, ::testing::ValuesIn(layouts),
                         [](const auto& test) { return std::string(test.param.name); });

/// As a signal to one rank does.
TEST(ReadPatterns, EndOnAllRanksWhenOneIsToldTo) {
  const TemporaryFolder folder;
  const std::string path = folder.file("scan.h5");
  constexpr int n_positions = 40;
  on_root([&] {
    add_dataset(path, "entry/data", {with_pattern({n_positions}), H5T_STD_U16LE, {1, 5, 6}, 0},
                encoded_patterns(n_positions, shape, 600));
  });
  const ScanSource source{path, "entry/data", {}, {}, true};
  const ScanInfo info = read_scan_info(source, world());
  const std::vector<int> owner = random_owners(n_positions, false);
  const std::vector<int> mine = positions_of(owner, world().rank());
  int n_pieces = 0;
  const auto told = [&] {
    if (++n_pieces == 2 && world().rank() == world().size() - 1)
      throw Error(ExitCode::interrupted, "told to end");
  };
  const auto take = [](std::span<const int>, const std::byte*) {};
  for (const TakePatterns& taken : {TakePatterns(take), TakePatterns()}) {
    n_pieces = 0;
    try {
      read_patterns(
          source, info, [&](int p) { return owner[static_cast<std::size_t>(p)]; }, mine, world(),
          taken, 1, told);
      FAIL() << "read to its end";
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::interrupted);
      EXPECT_STREQ(error.what(), "told to end");
      EXPECT_EQ(n_pieces, 2);
    }
  }
}

TEST(PatternTypes, AreKeptIfUnsignedAndFloatOtherwise) {
  struct Stored {
    hid_t type;
    PatternType kept;
    double scale;
  };
  const std::vector<Stored> all{
      {H5T_STD_U8LE, PatternType::u8, 2},       {H5T_STD_U16BE, PatternType::u16, 600},
      {H5T_STD_U32LE, PatternType::u32, 4e7},   {H5T_STD_U64LE, PatternType::f32, 1000},
      {H5T_STD_I8LE, PatternType::f32, 1},      {H5T_STD_I16LE, PatternType::f32, 300},
      {H5T_STD_I32BE, PatternType::f32, 1000},  {H5T_STD_I64LE, PatternType::f32, 1000},
      {H5T_IEEE_F32LE, PatternType::f32, 0.25}, {H5T_IEEE_F64BE, PatternType::f32, 0.25},
  };
  const TemporaryFolder folder;
  const int n_positions = 23;
  const std::vector<int> owner = random_owners(n_positions, false);
  const std::vector<int> mine = positions_of(owner, world().rank());
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(i);
    const std::string path = folder.file("type" + std::to_string(i) + ".h5");
    on_root([&] {
      add_dataset(path, "data", {with_pattern({n_positions}), all[i].type, {4, 5, 6}, 1},
                  encoded_patterns(n_positions, shape, all[i].scale));
    });
    const ScanSource source{path, "data", {}, {}, true};
    const ScanInfo info = read_scan_info(source, world());
    const AllPatterns patterns = read_all(source, info, owner, mine, world());
    expect_encoded(all[i].kept, patterns, mine, all[i].scale, true);
    EXPECT_EQ(sum_over_ranks(patterns.bytes_read),
              n_positions * shape.size() * static_cast<std::int64_t>(H5Tget_size(all[i].type)));
  }
}

TEST(Chunks, AreDecodedOnceByAllRanksTogether) {
  std::optional<CountingFilter> filter(std::in_place);
  const TemporaryFolder folder;
  const std::string path = folder.file("chunks.h5");
  on_root([&] { add_counted_patterns(path, "data", H5T_STD_U8LE); });
  const ScanSource source{path, "data", {}, {}, true};
  const ScanInfo info = read_scan_info(source, world());
  EXPECT_EQ(info.positions_per_chunk, (Shape2{2, 3}));
  const std::vector<int> owner = random_owners(90, false);
  filter->take_count();
  for (const std::int64_t piece_bytes : {1, 1 << 20}) {
    read_all(source, info, owner, positions_of(owner, world().rank()), world(), piece_bytes);
    EXPECT_EQ(sum_over_ranks(filter->take_count()), 5 * 4);
  }
  filter.reset();
  EXPECT_NE(agreed_error([&] { read_scan_info(source, world()); }).find("HDF5_PLUGIN_PATH"),
            std::string::npos);
}

TEST(Masks, OfAnyTypeAreShiftedAndZeroWhatTheyDistrust) {
  const hid_t boolean = H5Tenum_create(H5T_NATIVE_INT8);
  const signed char no = 0;
  const signed char yes = 1;
  H5Tenum_insert(boolean, "FALSE", &no);
  H5Tenum_insert(boolean, "TRUE", &yes);
  const TemporaryFolder folder;
  const std::string path = folder.file("mask.h5");
  std::vector<double> mask(30, 1);
  mask[2 * 6 + 3] = 0;  // zero frequency, hence [0, 0] once read
  mask[0] = 0;
  std::vector<double> values = encoded_patterns(8, shape, 1);
  values[2 * 6 + 3] = -1;                                     // position 0
  values[30 + 0] = std::numeric_limits<double>::quiet_NaN();  // position 1
  for (int i = 0; i < 30; ++i) values[5 * 30 + i] = i == 0 ? 9 : 0;
  on_root([&] {
    add_dataset(path, "data", {.extents = {8, 5, 6}}, values);
    add_dataset(path, "bool", {.extents = {5, 6}, .type = boolean}, mask);
    add_dataset(path, "u8", {.extents = {5, 6}, .type = H5T_STD_U8LE}, mask);
    add_dataset(path, "i32", {.extents = {5, 6}, .type = H5T_STD_I32LE}, mask);
    add_dataset(path, "f64", {.extents = {5, 6}}, mask);
  });
  H5Tclose(boolean);
  const std::vector<int> owner = random_owners(8, false);
  const std::vector<int> mine = positions_of(owner, world().rank());
  double total = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (mask[i % 30] == 1) total += values[i];
  for (const char* name : {"bool", "u8", "i32", "f64"}) {
    const ScanSource source{path, "data", {}, name, true};
    const ScanInfo info = read_scan_info(source, world());
    const auto n_valid = std::count(info.valid_pixels.begin(), info.valid_pixels.end(), 1);
    EXPECT_EQ(n_valid, 28) << name;
    EXPECT_EQ(info.valid_pixels(0, 0, 0), 0);
    EXPECT_EQ(info.valid_pixels(0, 3, 3), 0);
    const AllPatterns patterns = read_all(source, info, owner, mine, world(), 1);
    const auto* read = reinterpret_cast<const float*>(patterns.values.data());
    for (std::size_t i = 0; i < mine.size(); ++i) EXPECT_EQ(read[i * 30], 0);
    EXPECT_EQ(patterns.total_counts, total);
    EXPECT_EQ(patterns.all_zero, std::vector<int>{5});
  }
}

TEST(Patterns, WithoutACountAreListedOnAllRanks) {
  const TemporaryFolder folder;
  const std::string path = folder.file("zeros.h5");
  std::vector<double> values = encoded_patterns(20, shape, 1);
  // In the file's order of chunks position 5 comes before position 3.
  for (const int p : {3, 5, 11, 19}) std::fill_n(values.begin() + p * 30, 30, 0.0);
  on_root(
      [&] { add_dataset(path, "data", {{4, 5, 5, 6}, H5T_STD_U16LE, {2, 2, 5, 6}, 1}, values); });
  const ScanSource source{path, "data", {}, {}, true};
  const std::vector<int> owner = random_owners(20, true);
  const AllPatterns patterns = read_all(source, read_scan_info(source, world()), owner,
                                        positions_of(owner, world().rank()), world());
  EXPECT_EQ(patterns.all_zero, (std::vector<int>{3, 5, 11, 19}));
}

TEST(Patterns, OfAVirtualDatasetAreReadFromItsFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.file("virtual.h5");
  const std::vector<double> values = encoded_patterns(12, shape, 1);
  on_root([&] {
    const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    const Sizes whole{12, 5, 6};
    const Sizes half{6, 5, 6};
    const hid_t space = H5Screate_simple(3, whole.data(), nullptr);
    const hid_t part = H5Screate_simple(3, half.data(), nullptr);
    for (hsize_t i = 0; i < 2; ++i) {
      const std::string name = folder.file("part" + std::to_string(i) + ".h5");
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i) * 180;
      add_dataset(name, "data", {half, H5T_STD_U8LE, {2, 5, 6}, 1}, {begin, begin + 180});
      const Sizes first{6 * i, 0, 0};
      H5Sselect_hyperslab(space, H5S_SELECT_SET, first.data(), nullptr, half.data(), nullptr);
      H5Pset_virtual(plist, space, name.c_str(), "data", part);
    }
    H5Sselect_all(space);
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(H5Dcreate2(file, "data", H5T_STD_U8LE, space, H5P_DEFAULT, plist, H5P_DEFAULT));
    H5Fclose(file);
    H5Sclose(part);
    H5Sclose(space);
    H5Pclose(plist);
  });
  const ScanSource source{path, "data", {}, {}, false};
  const ScanInfo info = read_scan_info(source, world());
  EXPECT_TRUE(info.is_virtual);
  const std::vector<int> owner = random_owners(12, false);
  const std::vector<int> mine = positions_of(owner, world().rank());
  expect_encoded(PatternType::u8, read_all(source, info, owner, mine, world(), 1), mine, 1, false);
}

TEST(Patterns, OfAVirtualDatasetOfItselfAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.file("virtual.h5");
  on_root([&] {
    const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    const Sizes whole{12, 5, 6};
    const hid_t space = H5Screate_simple(3, whole.data(), nullptr);
    H5Pset_virtual(plist, space, ".", "data", space);
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(H5Dcreate2(file, "data", H5T_STD_U8LE, space, H5P_DEFAULT, plist, H5P_DEFAULT));
    H5Fclose(file);
    H5Sclose(space);
    H5Pclose(plist);
  });
  const ScanSource source{path, "data", {}, {}, false};
  const std::string error = agreed_error([&] { read_scan_info(source, world()); });
  EXPECT_NE(error.find(path), error.npos) << error;
  EXPECT_NE(error.find("its own source"), error.npos) << error;
}

}  // namespace
}  // namespace tessera::io
