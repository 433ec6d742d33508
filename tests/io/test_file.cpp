#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include "tessera/base/error.hpp"
#include "tessera/io/hdf5.hpp"

#include "io/scan_file.hpp"

namespace tessera::io {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using namespace testing;
using tessera::testing::world;

/// Rank r's stripe of rows; the last rank has none.
std::pair<std::int64_t, std::int64_t> rows_of_rank(std::int64_t n_rows) {
  const int n_writers = std::max(1, world().size() - 1);
  const int rank = std::min(world().rank(), n_writers);
  const std::int64_t begin = rank * n_rows / n_writers;
  const std::int64_t end = std::min(n_rows, (rank + 1) * n_rows / n_writers);
  return {begin, std::max<std::int64_t>(0, end - begin)};
}

std::complex<float> field(std::int64_t y, std::int64_t x) {
  return {static_cast<float>(y * 100 + x), static_cast<float>(-y)};
}

TEST(ParallelFile, TilesWrittenByAllRanksAreOneArray) {
  const TemporaryFolder folder;
  const std::string path = folder.file("tiles.h5");
  const Extents extents{1, 13, 9};
  const auto [begin, count] = rows_of_rank(extents[1]);
  std::vector<std::complex<float>> tile;
  for (std::int64_t y = begin; y < begin + count; ++y)
    for (std::int64_t x = 0; x < extents[2]; ++x) tile.push_back(field(y, x));
  {
    File file = File::create(path, world());
    file.create_dataset("history/object", extents, ElementType::complex64);
    file.write_slab("history/object", {0, begin, 0}, {1, count, extents[2]}, ElementType::complex64,
                    tile.data());
    file.close();
  }
  const WaveStack whole = File::open(path).read_waves("history/object");
  EXPECT_EQ(whole.shape(), (Shape2{13, 9}));
  for (int y = 0; y < whole.h(); ++y)
    for (int x = 0; x < whole.w(); ++x)
      EXPECT_EQ(whole(0, y, x), std::complex<double>(field(y, x)));

  const File again = File::open(path, world());
  std::vector<std::complex<float>> read(tile.size());
  again.read_slab("history/object", {0, begin, 0}, {1, count, extents[2]}, ElementType::complex64,
                  read.data());
  EXPECT_EQ(read, tile);
}

std::int64_t place_of(const std::string& path, const char* dataset) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t opened = H5Dopen2(file, dataset, H5P_DEFAULT);
  const haddr_t place = H5Dget_offset(opened);
  H5Dclose(opened);
  H5Fclose(file);
  return static_cast<std::int64_t>(place);
}

TEST(ParallelFile, LargeDatasetsBeginAtAWholeStripe) {
  const TemporaryFolder folder;
  const std::string path = folder.file("aligned.h5");
  {
    File file = File::create(path, world());
    file.create_dataset("small", {3}, ElementType::complex64);
    file.create_dataset("large", {1, 512, 300}, ElementType::complex64);
    file.create_dataset("larger", {2, 512, 512}, ElementType::complex64);
    file.close();
  }
  on_root([&] {
    constexpr std::int64_t stripe_bytes = 1 << 20;
    EXPECT_NE(place_of(path, "small") % stripe_bytes, 0);
    EXPECT_GT(place_of(path, "large"), 0);
    EXPECT_EQ(place_of(path, "large") % stripe_bytes, 0);
    EXPECT_EQ(place_of(path, "larger") % stripe_bytes, 0);
  });
}

/// Each name is looked up from the root.
TEST(File, NamesOfThousandsOfNestedGroupsAreCutOff) {
  const TemporaryFolder folder;
  const std::string path = folder.file("nested.h5");
  std::string groups = "g";
  for (int i = 0; i < 1000; ++i) groups += "/g";
  on_root([&] {
    File made = File::create(path);
    made.create_group(groups);
    made.write_doubles("x", {1}, {1});
    made.close();
  });
  world().barrier();
  const std::vector<std::string> names = File::open(path).names();
  EXPECT_THAT(names, ::testing::Contains("x"));
  EXPECT_LT(names.size(), 100u);
}

/// A chunked dataset may say that it has any shape, without a byte.
TEST(File, MemoryIsForWhatAFileHoldsNotForWhatItDeclares) {
  const TemporaryFolder folder;
  const std::string path = folder.file("huge.h5");
  on_root([&] {
    const hid_t made = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t extents[] = {1 << 20, 1 << 20};
    const hsize_t chunk[] = {64, 64};
    const hid_t space = H5Screate_simple(2, extents, nullptr);
    const hid_t in_chunks = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(in_chunks, 2, chunk);
    H5Dclose(
        H5Dcreate2(made, "huge", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, in_chunks, H5P_DEFAULT));
    H5Pclose(in_chunks);
    H5Sclose(space);
    H5Fclose(made);
  });
  world().barrier();
  const File file = File::open(path);
  for (const auto& read : {std::function<void()>([&] { file.read_doubles("huge"); }),
                           std::function<void()>([&] { file.read_waves("huge"); })})
    EXPECT_THAT(agreed_error([&] { world().together(read); }),
                AllOf(HasSubstr("\"huge\""), HasSubstr(path), HasSubstr("holds 0 bytes of it")));
}

TEST(ParallelFile, ASlabOutsideOnOneRankIsAnErrorOnAll) {
  const TemporaryFolder folder;
  File file = File::create(folder.file("outside.h5"), world());
  file.create_dataset("x", {4}, ElementType::f32);
  const std::vector<float> values(8);
  const bool wrong = world().rank() == world().size() - 1;
  const std::string message = agreed_error(
      [&] { file.write_slab("x", {0}, {wrong ? 5 : 0}, ElementType::f32, values.data()); });
  EXPECT_THAT(message, HasSubstr("[0, 5) is outside dataset \"x\""));
}

TEST(ParallelFile, NumbersTextsAndAttributesComeBack) {
  const TemporaryFolder folder;
  const std::string path = folder.file("small.h5");
  const std::string deck = "title = \"Größe\"\nepochs = 3\n";
  {
    File file = File::create(path, world());
    file.write_doubles("history/error", {3}, {1, 0.5, 0.25});
    file.write_doubles("one", {}, {7});
    file.write_text("deck", deck);
    file.write_text("empty", "");
    file.create_group("process");
    file.set_attribute("/", "version", "0.1 µ");
    file.set_attribute("history/error", "epoch", 2.0);
    file.set_attribute("history/error", "epoch", 3.0);
    file.close();
  }
  const File file = File::open(path);
  EXPECT_THAT(file.read_doubles("history/error"), ElementsAre(1, 0.5, 0.25));
  EXPECT_THAT(file.read_doubles("one"), ElementsAre(7));
  EXPECT_EQ(file.read_text("deck"), deck);
  EXPECT_EQ(file.read_text("empty"), "");
  EXPECT_EQ(file.text_attribute("/", "version"), "0.1 µ");
  EXPECT_EQ(file.number_attribute("history/error", "epoch"), 3.0);
  EXPECT_EQ(file.number_attribute("history/error", "missing"), std::nullopt);
  EXPECT_THAT(file.names(),
              UnorderedElementsAre("deck", "empty", "history", "history/error", "one", "process"));
  EXPECT_THAT(file.names("history"), ElementsAre("error"));
  EXPECT_TRUE(file.has("history/error"));
  EXPECT_FALSE(file.has("nothing/error"));
}

TEST(ParallelFile, TextAttributesAreOfTheKindThatH5pyReadsAsStr) {
  const TemporaryFolder folder;
  const std::string path = folder.file("text.h5");
  File writer = File::create(path, world());
  writer.set_attribute("/", "title", "star");
  writer.close();
  on_root([&] {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t attribute = H5Aopen(file, "title", H5P_DEFAULT);
    const hid_t type = H5Aget_type(attribute);
    const hid_t space = H5Aget_space(attribute);
    EXPECT_GT(H5Tis_variable_str(type), 0);
    EXPECT_EQ(H5Tget_cset(type), H5T_CSET_UTF8);
    EXPECT_EQ(H5Sget_simple_extent_type(space), H5S_SCALAR);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    H5Fclose(file);
  });
}

TEST(ParallelFile, ReadsRealWavesAndStacksThem) {
  const TemporaryFolder folder;
  const std::string path = folder.file("waves.h5");
  on_root([&] {
    add_dataset(path, "probe", {.extents = {2, 1, 2, 3}, .type = H5T_NATIVE_FLOAT},
                {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  });
  const WaveStack waves = File::open(path).read_waves("probe");
  EXPECT_EQ(waves.n(), 2);
  EXPECT_EQ(waves(1, 1, 2), 11.0);
}

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(SerialFile, AMissingDatasetIsAnsweredWithTheNameThatWasMeant) {
  const TemporaryFolder folder;
  const std::string path = folder.file("names.h5");
  on_root([&] {
    add_dataset(path, "entry/data/Counts", {.extents = {1}}, {1});
    add_dataset(path, "positions", {.extents = {1}}, {1});
  });
  const File file = File::open(path);
  const auto message = [&](const std::string& name) { return error_of([&] { file.info(name); }); };
  EXPECT_THAT(message("/entry/data/counts"),
              ::testing::AllOf(HasSubstr(path), HasSubstr("did you mean \"entry/data/Counts\"")));
  EXPECT_THAT(message("position"), HasSubstr("did you mean \"positions\""));
  EXPECT_THAT(message("xyz"), HasSubstr("it has entry/data/Counts, positions"));
  EXPECT_THAT(message("entry/data"), HasSubstr("has no dataset \"entry/data\""));
}

/// Attributes that tools of others write where we look for one number or one text.
void add_attribute(const std::string& path, const std::string& name, hid_t type, hsize_t n_values,
                   const void* values) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(1, &n_values, nullptr);
  const hid_t attribute = H5Acreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, values);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Fclose(file);
}

TEST(SerialFile, AttributesOfManyValuesOrAnotherTypeAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.file("attributes.h5");
  on_root([&] {
    add_dataset(path, "x", {.extents = {1}}, {1});
    const std::vector<double> numbers(5000, 8800);
    add_attribute(path, "one", H5T_NATIVE_DOUBLE, 1, numbers.data());
    add_attribute(path, "energy_eV", H5T_NATIVE_DOUBLE, numbers.size(), numbers.data());
    const hid_t variable = H5Tcopy(H5T_C_S1);
    H5Tset_size(variable, H5T_VARIABLE);
    const std::vector<const char*> words(3000, "some words");
    add_attribute(path, "words", variable, words.size(), words.data());
    H5Tclose(variable);
    const hid_t fixed = H5Tcopy(H5T_C_S1);
    H5Tset_size(fixed, 8);
    add_attribute(path, "letters", fixed, 1000, std::string(8000, 'a').data());
    H5Tclose(fixed);
    const hid_t pair = H5Tcreate(H5T_COMPOUND, 2 * sizeof(double));
    H5Tinsert(pair, "r", 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(pair, "i", sizeof(double), H5T_NATIVE_DOUBLE);
    add_attribute(path, "pair", pair, 1, numbers.data());
    H5Tclose(pair);
  });
  const File file = File::open(path);
  const auto number = [&](const char* name) {
    return error_of([&] { file.number_attribute("/", name); });
  };
  const auto words = [&](const char* name) {
    return error_of([&] { file.text_attribute("/", name); });
  };
  EXPECT_EQ(file.number_attribute("/", "one"), 8800.0);
  EXPECT_THAT(number("energy_eV"),
              ::testing::AllOf(HasSubstr(path), HasSubstr("energy_eV"),
                               HasSubstr("must be one number"), HasSubstr("5000 values")));
  EXPECT_THAT(number("pair"), HasSubstr("1 value of another type"));
  EXPECT_THAT(number("words"), HasSubstr("3000 values of another type"));
  EXPECT_THAT(words("words"), HasSubstr("must be one text; it holds 3000 values"));
  EXPECT_THAT(words("letters"), HasSubstr("must be one text; it holds 1000 values"));
  EXPECT_THAT(words("one"), HasSubstr("1 value of another type"));
}

/// A dataset of any size takes no room until it is written.
void add_unwritten(const std::string& path, const std::string& name, const Sizes& extents) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr);
  const hid_t chunked = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(chunked, static_cast<int>(extents.size()), Sizes(extents.size(), 1).data());
  H5Dclose(
      H5Dcreate2(file, name.c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, chunked, H5P_DEFAULT));
  H5Pclose(chunked);
  H5Sclose(space);
  H5Fclose(file);
}

TEST(SerialFile, WavesOfMoreThanIntsCountAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.file("huge.h5");
  const hsize_t huge = (hsize_t{1} << 32) + 1;  // 1 as an int
  on_root([&] {
    add_dataset(path, "x", {.extents = {1}}, {1});
    add_unwritten(path, "modes", {huge, 1, 1});
    add_unwritten(path, "rows", {1, huge, 1});
    add_unwritten(path, "columns", {1, 1, huge});
    add_unwritten(path, "all", {huge, huge, 4});
  });
  const File file = File::open(path);
  for (const char* name : {"modes", "rows", "columns"})
    EXPECT_THAT(error_of([&] { file.read_waves(name); }),
                ::testing::AllOf(HasSubstr(name), HasSubstr("4294967297"), HasSubstr("at most")));
  EXPECT_THAT(error_of([&] { file.read_waves("all"); }), HasSubstr("64 bits"));
  EXPECT_THAT(error_of([&] { file.read_doubles("all"); }), HasSubstr("64 bits"));
}

TEST(ParallelFile, FilesThatCannotBeOpenedSayWhy) {
  const TemporaryFolder folder;
  const std::string text_file = folder.file("deck.toml");
  const std::string cut = folder.file("cut.h5");
  on_root([&] {
    std::FILE* out = std::fopen(text_file.c_str(), "w");
    std::fputs("title = 1\n", out);
    std::fclose(out);
    add_dataset(cut, "x", {.extents = {1000}}, std::vector<double>(1000));
    std::filesystem::resize_file(cut, 4000);
  });
  const auto message = [&](const std::string& path) {
    const std::string alone = error_of([&] { File::open(path); });
    EXPECT_EQ(agreed_error([&] { File::open(path, world()); }), alone);
    return alone;
  };
  EXPECT_THAT(message(folder.file("none.h5")), HasSubstr("none.h5\" does not exist"));
  EXPECT_THAT(message(text_file), HasSubstr("deck.toml\" is not an HDF5 file"));
  EXPECT_THAT(message(folder.file("")), HasSubstr("is a folder"));
  EXPECT_THAT(message(cut), HasSubstr("cut.h5\" is cut short, at 4000 bytes"));
}

}  // namespace
}  // namespace tessera::io
