#include <filesystem>

#include <gtest/gtest.h>

#include "tessera/io/hdf5.hpp"

#include "io/all_patterns.hpp"
#include "io/scan_reader.hpp"
#include "support/world.hpp"

namespace tessera::io {
namespace {

using tessera::testing::world;

struct Measurement {
  const char* file;
  ElementType type;
  PatternType kept;
  Extents extents;
};

class Measurements : public ::testing::TestWithParam<Measurement> {};

/// The pattern of `position`, as the file has it.
std::vector<std::byte> stored_pattern(const ScanSource& source, const Measurement& m, int position,
                                      std::size_t n_bytes) {
  Extents begin(m.extents.size(), 0);
  Extents count(m.extents.size(), 1);
  begin[0] = m.extents.size() == 4 ? position / m.extents[1] : position;
  if (m.extents.size() == 4) begin[1] = position % m.extents[1];
  std::copy(m.extents.end() - 2, m.extents.end(), count.end() - 2);
  std::vector<std::byte> values(n_bytes);
  File::open(source.path).read_slab_alone(source.patterns, begin, count, m.type, values.data());
  return values;
}

TEST_P(Measurements, EachByteIsReadOnceAndShifted) {
  const Measurement& m = GetParam();
  const std::filesystem::path path = std::filesystem::path(TESSERA_MEASUREMENTS) / m.file;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs " << path;
  const ScanSource source{path, "data", "positions_m_row_col", {}, true};
  const ScanInfo info = read_scan_info(source, world());
  EXPECT_EQ(info.type, m.kept);
  EXPECT_EQ(static_cast<int>(info.positions_m.size()), info.n_positions);

  std::vector<int> owner;
  std::vector<int> mine;
  for (int p = 0; p < info.n_positions; ++p) {
    owner.push_back((p / 7) % world().size());
    if (owner.back() == world().rank()) mine.push_back(p);
  }
  const testing::AllPatterns patterns =
      testing::read_all(source, info, owner, mine, world(), 1 << 20);
  std::int64_t bytes = patterns.bytes_read;
  world().sum(std::span(&bytes, 1));
  std::int64_t expected = static_cast<std::int64_t>(size_of(m.kept));
  for (const std::int64_t n : m.extents) expected *= n;
  EXPECT_EQ(bytes, expected);

  const std::size_t width = size_of(m.kept);
  const std::size_t n_bytes = static_cast<std::size_t>(info.pattern.size()) * width;
  const auto [h, w] = info.pattern;
  for (const std::size_t i : {std::size_t{0}, mine.size() / 2, mine.size() - 1}) {
    const std::vector<std::byte> stored = stored_pattern(source, m, mine[i], n_bytes);
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        const std::size_t at = i * n_bytes + (static_cast<std::size_t>(y) * w + x) * width;
        const std::size_t from =
            (static_cast<std::size_t>((y + h / 2) % h) * w + (x + w / 2) % w) * width;
        ASSERT_TRUE(std::equal(stored.begin() + from, stored.begin() + from + width,
                               patterns.values.begin() + at));
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Measurements,
                         ::testing::Values(Measurement{"siemens_star_velociprobe.h5",
                                                       ElementType::u16,
                                                       PatternType::u16,
                                                       {516, 128, 128}},
                                           Measurement{"rotavirus_64x64scan_64x64det_uint8.h5",
                                                       ElementType::u8,
                                                       PatternType::u8,
                                                       {64, 64, 64, 64}}),
                         [](const auto& test) {
                           return std::string(test.index == 0 ? "siemens_star" : "rotavirus");
                         });

}  // namespace
}  // namespace tessera::io
