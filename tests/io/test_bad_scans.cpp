#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"

#include "io/all_patterns.hpp"
#include "io/scan_file.hpp"

namespace tessera::io {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using namespace testing;
using tessera::testing::world;

const Shape2 shape{5, 6};

std::vector<char> bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_bytes(const std::string& path, const std::vector<char>& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
}

/// A scan of 12 patterns of 5 x 6 that a test spoils.
class BadScan : public ::testing::Test {
 protected:
  void add(const std::string& name, const Storage& storage, const std::vector<double>& values) {
    on_root([&] { add_dataset(path_, name, storage, values); });
  }
  void add_patterns(const std::vector<double>& values, hid_t type = H5T_NATIVE_DOUBLE) {
    add("data", {{12, 5, 6}, type, {2, 5, 6}, 1}, values);
  }
  std::string info_error() {
    return agreed_error([&] { read_scan_info(source_, world()); });
  }
  std::string read_error() {
    const ScanInfo info = read_scan_info(source_, world());
    std::vector<int> owner;
    for (int p = 0; p < info.n_positions; ++p) owner.push_back(p % world().size());
    const std::vector<int> mine = positions_of(owner, world().rank());
    return agreed_error([&] { read_all(source_, info, owner, mine, world(), 1); });
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.file("scan.h5");
  const std::vector<double> good_ = encoded_patterns(12, shape, 1);
  ScanSource source_{path_, "data", {}, {}, true};
};

TEST_F(BadScan, MissingFile) {
  EXPECT_THAT(info_error(),
              AllOf(HasSubstr("data.file"), HasSubstr(path_), HasSubstr("does not exist")));
}

TEST_F(BadScan, MissingDatasetAndOneThatDiffersInCase) {
  add_patterns(good_);
  source_.patterns = "Data";
  EXPECT_THAT(info_error(), AllOf(HasSubstr("data.patterns = \"Data\""), HasSubstr(path_),
                                  HasSubstr("did you mean \"data\"")));
  source_.patterns = "data";
  source_.positions = "datum";
  EXPECT_THAT(info_error(), HasSubstr("data.positions = \"datum\""));
}

TEST_F(BadScan, NotHdf5) {
  on_root([&] {
    std::FILE* out = std::fopen(path_.c_str(), "w");
    std::fputs("not what it says", out);
    std::fclose(out);
  });
  EXPECT_THAT(info_error(), HasSubstr("is not an HDF5 file"));
}

TEST_F(BadScan, CutShort) {
  add_patterns(good_);
  on_root([&] { std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 100); });
  EXPECT_THAT(info_error(), AllOf(HasSubstr("data.file"), HasSubstr("is cut short")));
}

TEST_F(BadScan, CutShortBetweenMetadataAndPatterns) {
  add_patterns(good_);
  const ScanInfo info = read_scan_info(source_, world());
  on_root([&] { std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 100); });
  const std::vector<int> owner(12, 0);
  const std::vector<int> mine = positions_of(owner, world().rank());
  EXPECT_THAT(agreed_error([&] { read_all(source_, info, owner, mine, world()); }),
              HasSubstr("is cut short"));
}

TEST_F(BadScan, WrongNumberOfAxesOrNoNumbers) {
  add("data", {.extents = {12, 30}}, good_);
  EXPECT_THAT(info_error(), AllOf(HasSubstr("(12, 30)"), HasSubstr("(position, y, x)")));
  add("empty", {.extents = {0, 5, 6}}, {});
  source_.patterns = "empty";
  EXPECT_THAT(info_error(), HasSubstr("holds no"));
}

TEST_F(BadScan, PositionsOfAnotherCountOrShape) {
  add_patterns(good_);
  add("positions", {.extents = {11, 2}}, std::vector<double>(22));
  add("flat", {.extents = {24}}, std::vector<double>(24));
  source_.positions = "positions";
  EXPECT_THAT(info_error(), HasSubstr("11 positions for 12 patterns"));
  source_.positions = "flat";
  EXPECT_THAT(info_error(), HasSubstr("must be (position, 2)"));
}

TEST_F(BadScan, PositionsThatAreNotFinite) {
  add_patterns(good_);
  std::vector<double> positions(24, 1e-6);
  positions[2 * 7 + 1] = NAN;
  add("positions", {.extents = {12, 2}}, positions);
  source_.positions = "positions";
  EXPECT_THAT(info_error(), HasSubstr("scan position 7 is (1e-06, nan)"));
}

TEST_F(BadScan, MasksOfAnotherShapeWithoutValidPixelsOrWithFlags) {
  add_patterns(good_);
  add("turned", {.extents = {6, 5}}, std::vector<double>(30, 1));
  add("none", {.extents = {5, 6}}, std::vector<double>(30, 0));
  std::vector<double> flags(30, 0);
  flags[8] = 4;
  add("flags", {.extents = {5, 6}, .type = H5T_STD_U32LE}, flags);
  source_.valid_pixels = "turned";
  EXPECT_THAT(info_error(), AllOf(HasSubstr("(6, 5)"), HasSubstr("(5, 6)")));
  source_.valid_pixels = "none";
  EXPECT_THAT(info_error(), HasSubstr("no pixel is valid"));
  source_.valid_pixels = "flags";
  EXPECT_THAT(info_error(), HasSubstr("pixel (1, 2) is 4"));
}

TEST_F(BadScan, ValuesThatAreNotCounts) {
  const auto spoiled = [&](double value) {
    std::vector<double> values = good_;
    values[9 * 30 + 4 * 6 + 1] = value;
    return values;
  };
  add_patterns(spoiled(NAN));
  EXPECT_THAT(read_error(), AllOf(HasSubstr("scan position 9 holds nan at pixel (4, 1)"),
                                  HasSubstr("data.patterns")));
  add("negative", {.extents = {12, 5, 6}, .type = H5T_STD_I16LE}, spoiled(-3));
  source_.patterns = "negative";
  EXPECT_THAT(read_error(), HasSubstr("scan position 9 holds -3 at pixel (4, 1)"));
  add("infinite", {.extents = {12, 5, 6}, .type = H5T_IEEE_F32LE}, spoiled(INFINITY));
  source_.patterns = "infinite";
  source_.zero_frequency_centred = false;
  EXPECT_THAT(read_error(), HasSubstr("scan position 9 holds inf at pixel (4, 1)"));
}

TEST_F(BadScan, NothingButZeros) {
  add_patterns(std::vector<double>(360, 0), H5T_STD_U16LE);
  EXPECT_THAT(read_error(), HasSubstr("nothing but zeros"));
}

TEST_F(BadScan, AChunkThatCannotBeInflated) {
  add_patterns(good_);
  on_root([&] { damage_chunk(path_, "data", 4); });
  EXPECT_THAT(read_error(), AllOf(HasSubstr("[8, 10)"), HasSubstr(path_),
                                  AnyOf(HasSubstr("inflate"), HasSubstr("filter"))));
}

/// A chunk's length is the first number in the tree of chunks, behind 24 bytes.
TEST_F(BadScan, AChunkThatIsLongerThanTheFile) {
  add_patterns(good_);
  on_root([&] {
    std::vector<char> bytes = bytes_of(path_);
    const std::string tree("TREE\x01", 5);
    const auto at = std::search(bytes.begin(), bytes.end(), tree.begin(), tree.end());
    ASSERT_NE(at, bytes.end());
    std::fill_n(at + 24, 4, '\xf6');
    write_bytes(path_, bytes);
  });
  EXPECT_THAT(info_error(), AllOf(HasSubstr(path_), HasSubstr("/data"),
                                  HasSubstr("bytes of the file, which has")));
}

/// Superblock, groups and headers lie in front. A damaged byte may go unseen; if not, it is the
/// file's fault.
TEST_F(BadScan, DamagedStructureIsAnInputErrorThatNamesTheFile) {
  add_patterns(good_);
  std::vector<double> positions(24, 1e-6);
  positions[0] = 2e-6;
  add("positions", {{12, 2}, H5T_NATIVE_DOUBLE, {}, 0}, positions);
  source_.positions = "positions";
  const std::vector<char> sound = bytes_of(path_);
  world().barrier();  // all have read it before the first one damages it
  int n_refused = 0;
  for (std::size_t at = 8; at < std::min<std::size_t>(sound.size(), 2048); at += 16) {
    std::vector<char> damaged = sound;
    damaged[at] = static_cast<char>(~damaged[at]);
    on_root([&] { write_bytes(path_, damaged); });
    try {
      read_scan_info(source_, world());
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::bad_input) << "byte " << at << ": " << error.what();
      EXPECT_THAT(error.what(), HasSubstr(path_)) << "byte " << at;
      ++n_refused;
    }
  }
  EXPECT_GT(n_refused, 10);
}

TEST_F(BadScan, OwnersThatDoNotMatchThePositions) {
  add_patterns(good_);
  const ScanInfo info = read_scan_info(source_, world());
  const std::vector<int> owner(12, 0);
  const std::vector<int> wrong{3};
  EXPECT_THROW(read_all(source_, info, owner, wrong, world()), AgreedError);
}

}  // namespace
}  // namespace tessera::io
