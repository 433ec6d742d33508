// Chosen patterns, by one rank alone, and what happens when the file changes meanwhile.
#include <algorithm>
#include <filesystem>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"

#include "io/all_patterns.hpp"
#include "io/layouts.hpp"
#include "io/scan_file.hpp"
#include "support/allocations.hpp"

namespace tessera::io {
namespace {

using namespace testing;
using tessera::testing::world;
using ::testing::AllOf;
using ::testing::HasSubstr;

const Shape2 shape{5, 6};
constexpr std::size_t pattern_bytes = 5 * 6 * 2;

/// A scan written by rank 0 and what read_patterns makes of it.
class ChosenPatterns : public ::testing::TestWithParam<Layout> {
 protected:
  ChosenPatterns() : path_(folder_.file("scan.h5")) {
    const Layout& layout = GetParam();
    Sizes extents = layout.scan;
    extents.insert(extents.end(), {5, 6});
    const int n = static_cast<int>(size_of(layout.scan));
    on_root([&] {
      add_dataset(path_, "data", {extents, H5T_STD_U16LE, layout.chunk, layout.deflate},
                  encoded_patterns(n, shape, 600));
    });
    source_ = {path_, "data", {}, {}, true};
    info_ = read_scan_info(source_, world());
    std::vector<int> everything(static_cast<std::size_t>(n));
    std::iota(everything.begin(), everything.end(), 0);
    if (world().is_root()) mine_ = everything;
    all_ = read_all(source_, info_, std::vector<int>(everything.size(), 0), mine_, world());
  }
  TemporaryFolder folder_;
  std::string path_;
  ScanSource source_;
  ScanInfo info_;
  std::vector<int> mine_;
  AllPatterns all_;
};

INSTANTIATE_TEST_SUITE_P(Layouts, ChosenPatterns, ::testing::ValuesIn(layouts),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(ChosenPatterns, AreThoseOfTheWholeScanInAnyOrder) {
  std::mt19937 random(3);
  PatternFile file(source_, info_, info_.n_positions);
  std::vector<int> chosen = mine_;
  std::vector<std::byte> patterns(chosen.size() * pattern_bytes);
  for (const std::size_t n : {chosen.size(), chosen.size() / 3, std::size_t{1}, std::size_t{0}}) {
    std::shuffle(chosen.begin(), chosen.end(), random);
    const std::span<const int> some(chosen.data(), std::min(n, chosen.size()));
    std::fill(patterns.begin(), patterns.end(), std::byte{0xee});
    const int before = tessera::testing::n_allocations();
    file.read(some, patterns.data());
    EXPECT_EQ(tessera::testing::n_allocations(), before);
    int wrong = 0;
    for (std::size_t i = 0; i < some.size(); ++i)
      if (!std::equal(patterns.begin() + static_cast<std::ptrdiff_t>(i * pattern_bytes),
                      patterns.begin() + static_cast<std::ptrdiff_t>((i + 1) * pattern_bytes),
                      all_.values.begin() +
                          static_cast<std::ptrdiff_t>(some[i]) * static_cast<int>(pattern_bytes)))
        ++wrong;
    EXPECT_EQ(wrong, 0);
  }
}

/// What the read of all patterns throws; empty if nothing.
std::string error_of(PatternFile& file, int n) {
  std::vector<int> positions(static_cast<std::size_t>(n));
  std::iota(positions.begin(), positions.end(), 0);
  std::vector<std::byte> patterns(positions.size() * pattern_bytes);
  try {
    file.read(positions, patterns.data());
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_P(ChosenPatterns, OfAFileThatIsCutShortAreAnErrorWithFileAndPosition) {
  PatternFile file(source_, info_, info_.n_positions);
  const auto whole = std::filesystem::file_size(path_);
  world().barrier();  // all know the size before the root changes it
  on_root([&] { std::filesystem::resize_file(path_, whole - 40); });
  EXPECT_THAT(error_of(file, info_.n_positions),
              AllOf(HasSubstr(path_), HasSubstr("cut short"),
                    HasSubstr(std::to_string(whole) + " to " + std::to_string(whole - 40)),
                    HasSubstr("scan position ")));
}

/// Cut off and made as long again: what was there reads as zeros, or cannot be inflated.
TEST_P(ChosenPatterns, ThatLoseTheirCountsAreAnErrorWithFileAndPosition) {
  PatternFile file(source_, info_, info_.n_positions);
  const auto whole = std::filesystem::file_size(path_);
  world().barrier();  // all know the size before the root changes it
  on_root([&] {
    std::filesystem::resize_file(path_, whole / 2);
    std::filesystem::resize_file(path_, whole);
  });
  EXPECT_THAT(error_of(file, info_.n_positions), AllOf(HasSubstr(path_), HasSubstr("position ")));
}

TEST(ChosenPatternsOfAChunk, AreDecodedOnce) {
  CountingFilter filter;
  const TemporaryFolder folder;
  const std::string path = folder.file("chunks.h5");
  on_root([&] { add_counted_patterns(path, "data", H5T_STD_U16LE); });
  const ScanSource source{path, "data", {}, {}, true};
  const ScanInfo info = read_scan_info(source, world());
  // Chunk (0, 0) holds rows 0, 1 and columns 0 to 2; 89 lies in the last one.
  const std::vector<int> chosen{12, 89, 0, 2, 10};
  std::vector<std::byte> patterns(chosen.size() * pattern_bytes);
  PatternFile file(source, info, 5);
  filter.take_count();
  file.read(chosen, patterns.data());
  EXPECT_EQ(filter.take_count(), 2);
}

}  // namespace
}  // namespace tessera::io
