/// What libdeflate inflates instead of HDF5, against the numbers that were written.

#include <array>
#include <random>

#include <gtest/gtest.h>

#include "tessera/base/error.hpp"
#include "tessera/io/hdf5.hpp"

#include "io/scan_file.hpp"

namespace tessera::io::testing {
namespace {

using tessera::testing::world;

struct Case {
  const char* name;
  Sizes extents;
  Sizes chunk;
  bool shuffle;
};

const std::vector<Case> cases{
    {"one_axis", {1000}, {64}, false},
    {"cut_chunks", {11, 9, 7}, {4, 4, 4}, true},
    {"whole_rows", {23, 5, 6}, {2, 5, 6}, false},
    {"four_axes", {5, 4, 8, 6}, {2, 3, 8, 6}, true},
    {"one_chunk", {3, 4}, {3, 4}, true},
    {"enough_for_threads", {81, 96, 96}, {2, 96, 96}, true},
};

template <class T>
struct Stored;
template <>
struct Stored<std::uint8_t> {
  static hid_t type() { return H5T_STD_U8LE; }
  static constexpr ElementType element = ElementType::u8;
};
template <>
struct Stored<std::uint16_t> {
  static hid_t type() { return H5T_STD_U16LE; }
  static constexpr ElementType element = ElementType::u16;
};
template <>
struct Stored<float> {
  static hid_t type() { return H5T_IEEE_F32LE; }
  static constexpr ElementType element = ElementType::f32;
};
template <>
struct Stored<double> {
  static hid_t type() { return H5T_IEEE_F64LE; }
  static constexpr ElementType element = ElementType::f64;
};

/// The i-th number of a dataset, in C order: no two neighbours are alike, and bytes differ.
double number(std::size_t i) {
  return static_cast<double>((i * 7919 + 13) % 251);
}

std::vector<double> numbers(const Sizes& extents) {
  std::vector<double> all(size_of(extents));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = number(i);
  return all;
}

struct Slab {
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> count;
};

Slab random_slab(const Sizes& extents, std::mt19937& random) {
  Slab slab;
  for (const hsize_t extent : extents) {
    const auto n = static_cast<std::int64_t>(extent);
    slab.begin.push_back(std::uniform_int_distribution<std::int64_t>(0, n - 1)(random));
    slab.count.push_back(
        std::uniform_int_distribution<std::int64_t>(1, n - slab.begin.back())(random));
  }
  return slab;
}

/// Calls check(place in the slab, place in the dataset) for every number.
void for_each_number(const Slab& slab, const Sizes& extents, const auto& check) {
  std::size_t n = 1;
  for (const std::int64_t count : slab.count) n *= static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t rest = i;
    std::size_t at = 0;
    std::size_t stride = 1;
    for (std::size_t axis = extents.size(); axis-- > 0;) {
      const auto count = static_cast<std::size_t>(slab.count[axis]);
      at += (rest % count + static_cast<std::size_t>(slab.begin[axis])) * stride;
      rest /= count;
      stride *= extents[axis];
    }
    check(i, at);
  }
}

template <class T>
class DeflatedChunksOf : public ::testing::Test {};
using Types = ::testing::Types<std::uint8_t, std::uint16_t, float, double>;
TYPED_TEST_SUITE(DeflatedChunksOf, Types);

TYPED_TEST(DeflatedChunksOf, HoldWhatWasWrittenInAnySlab) {
  using Type = Stored<TypeParam>;
  const TemporaryFolder folder;
  std::mt19937 random(static_cast<unsigned>(3 + world().rank()));
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string path = folder.file(std::string(c.name) + ".h5");
    on_root([&] {
      add_dataset(path, "data",
                  {.extents = c.extents,
                   .type = Type::type(),
                   .chunk = c.chunk,
                   .deflate = 4,
                   .shuffle = c.shuffle},
                  numbers(c.extents));
    });
    const File file = File::open(path);
    const SlabReader reader(file, "data", Type::element);
    std::vector<TypeParam> values(size_of(c.extents));
    Slab slab{std::vector<std::int64_t>(c.extents.size()), {c.extents.begin(), c.extents.end()}};
    for (int repeat = 0; repeat < 30; ++repeat) {
      reader.read(slab.begin, slab.count, values.data());
      int wrong = 0;
      for_each_number(slab, c.extents, [&](std::size_t i, std::size_t at) {
        wrong += static_cast<double>(values[i]) != number(at);
      });
      EXPECT_EQ(wrong, 0) << repeat;
      slab = random_slab(c.extents, random);
    }
  }
}

TEST(DeflatedChunks, ThatAreConvertedAreReadByHdf5) {
  const TemporaryFolder folder;
  const Sizes extents{6, 4};
  for (const hid_t type : {H5T_STD_U16BE, H5T_STD_U8LE}) {
    const std::string path = folder.file(type == H5T_STD_U16BE ? "big_endian.h5" : "narrow.h5");
    on_root([&] {
      add_dataset(path, "data", {.extents = extents, .type = type, .chunk = {2, 4}, .deflate = 1},
                  numbers(extents));
    });
    const File file = File::open(path);
    std::vector<std::uint16_t> values(size_of(extents));
    SlabReader(file, "data", ElementType::u16)
        .read(std::vector<std::int64_t>{0, 0}, std::vector<std::int64_t>{6, 4}, values.data());
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], number(i));
  }
}

TEST(DeflatedChunks, ThatAreDamagedAreNamed) {
  const TemporaryFolder folder;
  const std::string path = folder.file("damaged.h5");
  const Sizes extents{8, 4};
  on_root([&] {
    add_dataset(path, "data",
                {.extents = extents, .type = H5T_STD_U16LE, .chunk = {2, 4}, .deflate = 1},
                numbers(extents));
    damage_chunk(path, "data", 2);
  });
  const File file = File::open(path);
  const SlabReader reader(file, "data", ElementType::u16);
  std::vector<std::uint16_t> values(size_of(extents));
  const auto read = [&](std::int64_t begin, std::int64_t count) {
    reader.read(std::vector<std::int64_t>{begin, 0}, std::vector<std::int64_t>{count, 4},
                values.data());
  };
  read(0, 4);
  EXPECT_EQ(values[15], number(15));
  for (const std::int64_t count : {2, 4}) {
    try {
      read(4, count);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("is the file damaged?"), std::string::npos)
          << error.what();
    }
  }
}

/// Whose values were never written: HDF5 knows what stands for them.
TEST(DeflatedChunks, ThatTheFileLacksAreZero) {
  const TemporaryFolder folder;
  const std::string path = folder.file("sparse.h5");
  on_root([&] {
    const std::array<hsize_t, 1> extent{100};
    const std::array<hsize_t, 1> chunk{10};
    const hid_t made = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, extent.data(), nullptr);
    const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(plist, 1, chunk.data());
    H5Pset_deflate(plist, 1);
    H5Dclose(H5Dcreate2(made, "data", H5T_STD_U16LE, space, H5P_DEFAULT, plist, H5P_DEFAULT));
    H5Pclose(plist);
    H5Sclose(space);
    H5Fclose(made);
  });
  const File file = File::open(path);
  std::vector<std::uint16_t> values(100, 7);
  SlabReader(file, "data", ElementType::u16)
      .read(std::vector<std::int64_t>{0}, std::vector<std::int64_t>{100}, values.data());
  EXPECT_EQ(values, std::vector<std::uint16_t>(100, 0));
}

}  // namespace
}  // namespace tessera::io::testing
