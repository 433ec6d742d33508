// Another format than HDF5 goes through everything above the seam: recognised by what the file
// holds, read by ranges on every rank, each pattern at its owner.

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"

#include "io/all_patterns.hpp"
#include "io/scan_file.hpp"
#include "io/scan_reader.hpp"
#include "scan_format.hpp"

namespace tessera::io {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace testing;
using tessera::testing::world;

constexpr int n_positions = 7;
const Shape2 shape{4, 6};

/// "plain scan" and numbers: for every pattern its position, then its counts.
class PlainScan final : public ScanReader {
 public:
  explicit PlainScan(const std::string& path) : path_(path) {
    std::ifstream file(path);
    std::string words;
    file >> words >> words;
    for (int p = 0; p < n_positions; ++p) {
      Vec2 position;
      file >> position.y >> position.x;
      positions_m_.push_back(position);
      for (int i = 0; i < shape.size(); ++i) file >> counts_.emplace_back();
    }
  }
  RecordedPatterns patterns() const override {
    return {n_positions, {}, shape, PatternType::u16, 2, {2, 1}};
  }
  std::vector<Vec2> positions_m() const override { return positions_m_; }
  bool has_own_masks() const override { return false; }
  ImageStack<double> valid_pixels() const override {
    ImageStack<double> valid(1, shape, 1);
    valid(0, 0, 0) = 0;
    return valid;
  }
  ImageStack<double> background() const override { return {}; }
  ImageStack<double> detector_images(const std::string&) const override { return {2, shape, 3}; }
  WaveStack start_probe(const std::string&) const override { return {1, shape, 0.5}; }
  void start_reading(PatternType as) override { ASSERT_EQ(as, PatternType::u16); }
  void read_patterns(const Box& positions, const Box& pixels, std::byte* patterns) override {
    auto* values = reinterpret_cast<std::uint16_t*>(patterns);
    for (int p = positions.begin.y; p < positions.end.y; ++p)
      for (int y = pixels.begin.y; y < pixels.end.y; ++y)
        for (int x = pixels.begin.x; x < pixels.end.x; ++x)
          *values++ = counts_[static_cast<std::size_t>((p * shape.h + y) * shape.w + x)];
  }
  void read_masks(const Box&, const Box&, std::uint8_t*) override {}
  std::int64_t bytes() const override {
    return static_cast<std::int64_t>(std::filesystem::file_size(path_));
  }

 private:
  std::string path_;
  std::vector<Vec2> positions_m_;
  std::vector<std::uint16_t> counts_;
};

bool is_plain_scan(const ScanSource& source) {
  std::string words;
  std::ifstream file(source.path);
  std::getline(file, words);
  return words == "plain scan";
}

std::vector<ScanFormat> formats_with_plain_scans() {
  const std::span<const ScanFormat> known = scan_formats();
  std::vector<ScanFormat> formats(known.begin(), known.end());
  formats.push_back({"plain", "a plain scan", is_plain_scan,
                     [](const ScanSource& source, const comm::Communicator*) {
                       return std::unique_ptr<ScanReader>(std::make_unique<PlainScan>(source.path));
                     }});
  return formats;
}

class ScanFormats : public ::testing::Test {
 protected:
  ScanFormats() {
    on_root([&] {
      std::ofstream file(path_);
      file << "plain scan\n";
      for (int p = 0; p < n_positions; ++p) {
        file << 1e-6 * p << ' ' << -1e-6 * p << '\n';
        for (int y = 0; y < shape.h; ++y)
          for (int x = 0; x < shape.w; ++x) file << encoded(p, y, x) << ' ';
      }
      std::ofstream(unknown_) << "BM a picture, perhaps";
    });
  }
  ScanInfo read_info() { return read_scan_info(source_, world(), formats_); }
  std::string complaint() {
    return agreed_error([&] { read_info(); });
  }

  const std::vector<ScanFormat> formats_ = formats_with_plain_scans();
  const TemporaryFolder folder_;
  const std::string path_ = folder_.file("named_as_it_likes.h5");
  const std::string unknown_ = folder_.file("unknown.h5");
  ScanSource source_{path_, "unused", {}, {}, false};
};

TEST_F(ScanFormats, AnotherFormatIsKnownByItsContentAndReadToTheOwners) {
  const ScanInfo info = read_info();
  EXPECT_EQ(info.format->name, "plain");
  EXPECT_EQ(info.n_positions, n_positions);
  EXPECT_EQ(info.type, PatternType::u16);
  EXPECT_EQ(info.valid_pixels(0, 0, 0), 0);
  ASSERT_EQ(info.positions_m.size(), std::size_t{n_positions});
  EXPECT_DOUBLE_EQ(info.positions_m[3].x, -3e-6);

  std::vector<int> owner;
  for (int p = 0; p < n_positions; ++p) owner.push_back((p * 5 + 1) % world().size());
  const std::vector<int> mine = positions_of(owner, world().rank());
  const AllPatterns patterns = read_all(source_, info, owner, mine, world(), 1);
  const auto* values = reinterpret_cast<const std::uint16_t*>(patterns.values.data());
  for (const int p : mine)
    for (int y = 0; y < shape.h; ++y)
      for (int x = 0; x < shape.w; ++x)
        EXPECT_EQ(*values++, y + x == 0 ? 0 : encoded(p, y, x)) << p << ": " << y << ", " << x;
}

TEST_F(ScanFormats, ChosenPatternsImagesAndAProbeComeFromTheSameReader) {
  const ScanInfo info = read_info();
  PatternFile file(source_, info, 2);
  std::vector<std::uint16_t> patterns(2 * shape.size());
  file.read(std::vector<int>{5, 2}, reinterpret_cast<std::byte*>(patterns.data()));
  EXPECT_EQ(patterns[1], encoded(5, 0, 1));
  EXPECT_EQ(patterns[static_cast<std::size_t>(shape.size()) + 7], encoded(2, 1, 1));
  EXPECT_EQ(read_detector_image(source_, info, "vacuum")(0, 1, 1), 3);
  EXPECT_EQ(read_start_probe(source_, info, "probe")(0, 1, 1), 0.5);
}

TEST_F(ScanFormats, AFormatThatIsNamedIsTaken) {
  source_.format = "plain";
  EXPECT_EQ(read_info().format->name, "plain");
  source_.format = "hdf5";
  EXPECT_THAT(complaint(), AllOf(HasSubstr(path_), HasSubstr("is not an HDF5 file")));
}

TEST_F(ScanFormats, UnknownContentAndUnknownNamesSayWhatIsKnown) {
  source_.format = "jpeg";
  EXPECT_THAT(complaint(), AllOf(HasSubstr("data.format = \"jpeg\""), HasSubstr("\"auto\""),
                                 HasSubstr("hdf5, numpy"), HasSubstr(", plain")));
  source_.format = "memory";  // a program's, never a deck's
  EXPECT_THAT(complaint(), HasSubstr("leave data.format out"));
  source_.format = "auto";
  source_.path = unknown_;
  EXPECT_THAT(
      complaint(),
      AllOf(HasSubstr("data.file"), HasSubstr(unknown_), HasSubstr("is not an HDF5 file or "),
            HasSubstr(" or a plain scan"), HasSubstr("begins with \"BM a picture, pe\""),
            HasSubstr("hdf5, numpy"), HasSubstr(", plain")));
  source_.path = folder_.file("nowhere");
  EXPECT_THAT(complaint(), HasSubstr("does not exist"));
}

}  // namespace
}  // namespace tessera::io
