// Tiny files whose contents are known by heart.

#include <array>
#include <cmath>
#include <fstream>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tessera/base/error.hpp"
#include "tessera/io/hdf5.hpp"

#include "analysis/file_contents.hpp"
#include "analysis/inspect.hpp"
#include "analysis/object_picture.hpp"
#include "analysis/pictures.hpp"
#include "io/spoilt_file.hpp"
#include "support/scratch_folder.hpp"

namespace tessera::analysis {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class Inspect : public ::testing::Test {
 protected:
  static Json json_report(const std::string& path) {
    return Json::parse(inspect_report(path, true));
  }
  tessera::testing::ScratchFolder folder_;
};

/// Position k of 6 has k counts in each of its 4 x 5 pixels; two pixels are masked.
void write_scan(const std::string& path, const io::Extents& scan, const std::string& patterns) {
  io::File file = io::File::create(path);
  std::vector<std::uint16_t> counts(6 * 20);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = static_cast<std::uint16_t>(i / 20);
  io::Extents extents = scan;
  extents.insert(extents.end(), {4, 5});
  file.create_dataset(patterns, extents, io::ElementType::u16);
  file.write_slab(patterns, io::Extents(extents.size(), 0), extents, io::ElementType::u16,
                  counts.data());
  std::vector<double> mask(20, 1);
  mask[3] = mask[7] = 0;
  file.write_doubles("valid_pixels", {4, 5}, mask);
  // Two rows 3 um apart, steps of 2 um.
  file.write_doubles("positions_m", {6, 2},
                     {0, 0, 0, 2e-6, 0, 4e-6, 3e-6, 0, 3e-6, 2e-6, 3e-6, 4e-6});
  file.write_doubles("other", {7, 7}, std::vector<double>(49));
  file.set_attribute("/", "distance_m", 1.5);
  file.close();
}

/// 24 patterns, bright everywhere, in which pixel (1, 2) never changes and (9, 9) flashes once.
void write_stuck_pixel_and_flash(const std::string& path) {
  io::File file = io::File::create(path);
  std::vector<double> counts;
  for (int i = 0; i < 24 * 10 * 10; ++i) counts.push_back(i % 100 == 12 ? 0 : 100 + i % 7);
  counts[5 * 100 + 99] = 5000;
  file.write_doubles("patterns", {24, 10, 10}, counts);
  file.close();
}

void expect_the_scan(const Json& report) {
  EXPECT_EQ(report["kind"], "scan");
  EXPECT_EQ(report["patterns"]["count"], 6);
  EXPECT_EQ(report["patterns"]["shape_px"], Json({4, 5}));
  EXPECT_EQ(report["geometry"]["distance_m"], 1.5);
  EXPECT_EQ(report["masked_pixels"], 2);
  EXPECT_EQ(report["dose"]["mean_counts_per_pattern"], 18 * 2.5);
  EXPECT_EQ(report["dose"]["least_counts_per_pattern"], 0);
  EXPECT_EQ(report["dose"]["most_counts_per_pattern"], 18 * 5);
  EXPECT_EQ(report["dose"]["most_counts_per_pixel"], 5);
  EXPECT_EQ(report["dose"]["patterns_without_counts"], 1);
  EXPECT_EQ(report["dose"]["negative_or_not_finite_values"], 0);
  EXPECT_EQ(report["positions"]["count"], 6);
  EXPECT_DOUBLE_EQ(report["positions"]["extent_m"][0], 3e-6);
  EXPECT_DOUBLE_EQ(report["positions"]["extent_m"][1], 4e-6);
  EXPECT_DOUBLE_EQ(report["positions"]["median_step_m"], 2e-6);
}

/// As programs write that know Latin 1 only.
TEST_F(Inspect, WordsThatAreNoUtf8AreStillJson) {
  const std::string path = folder_.path("scan.h5");
  write_scan(path, {6}, "caf\xe9");
  EXPECT_EQ(json_report(path)["patterns"]["dataset"], "caf\xef\xbf\xbd");
}

TEST_F(Inspect, FindsTheScanInAFileWithoutADeck) {
  write_scan(folder_.path("scan.h5"), {6}, "entry/any_name");
  const Json report = json_report(folder_.path("scan.h5"));
  expect_the_scan(report);
  EXPECT_EQ(report["patterns"]["dataset"], "entry/any_name");
  EXPECT_EQ(report["datasets"]["entry/any_name"], "u16, 6 x 4 x 5");
}

TEST_F(Inspect, ReadsAFourAxisScan) {
  write_scan(folder_.path("scan.h5"), {2, 3}, "data");
  expect_the_scan(json_report(folder_.path("scan.h5")));
}

TEST_F(Inspect, NamesPixelsThatNeverChangeAndCountsFlashes) {
  write_stuck_pixel_and_flash(folder_.path("scan.h5"));
  const Json report = json_report(folder_.path("scan.h5"));
  EXPECT_EQ(report["bad_pixels"]["hot"], 0);
  EXPECT_EQ(report["bad_pixels"]["stuck"], 1);
  EXPECT_EQ(report["bad_pixels"]["first_stuck_yx"], Json::parse("[[1, 2]]"));
  EXPECT_EQ(report["bad_pixels"]["flashes"], 1);
}

TEST_F(Inspect, TakesNamesAndExperimentFromADeck) {
  write_scan(folder_.path("scan.h5"), {6}, "data");
  std::ofstream(folder_.path("deck.toml")) << "[data]\nfile = \"scan.h5\"\npatterns = \"data\"\n"
                                              "valid_pixels = \"valid_pixels\"\n"
                                              "[experiment]\nenergy_eV = 8800.0\n"
                                              "distance_m = 1.5\ndetector_pixel_m = 75e-6\n";
  const Json report = json_report(folder_.path("deck.toml"));
  expect_the_scan(report);
  EXPECT_EQ(report["geometry"]["energy_eV"], 8800);
}

TEST_F(Inspect, TakesPositionsAsTheDeckDoes) {
  write_scan(folder_.path("scan.h5"), {6}, "data");
  io::File file = io::File::create(folder_.path("stage.h5"));
  std::vector<double> x_y_z;
  for (const double y_um : {0, 3})
    for (const double x_um : {0, 2, 4}) x_y_z.insert(x_y_z.end(), {x_um, y_um, 9});
  file.write_doubles("translation", {6, 3}, x_y_z);
  file.close();
  std::ofstream(folder_.path("deck.toml"))
      << "[data]\nfile = \"scan.h5\"\npatterns = \"data\"\nvalid_pixels = \"valid_pixels\"\n"
         "positions = \"translation\"\npositions_file = \"stage.h5\"\n"
         "positions_columns = [1, 0]\npositions_scale = [1e-6, 1e-6]\n"
         "[experiment]\nenergy_eV = 8800.0\ndistance_m = 1.5\ndetector_pixel_m = 75e-6\n";
  const Json report = json_report(folder_.path("deck.toml"));
  expect_the_scan(report);
  EXPECT_EQ(report["positions"]["dataset"], "translation");
}

TEST_F(Inspect, GoesOnWhereAnAttributeIsNotOneNumber) {
  io::File other = io::File::create(folder_.path("other.h5"));
  other.write_doubles("data", {2, 4, 5}, std::vector<double>(40, 1));
  other.set_attribute("/", "energy_eV", "8.8 keV");
  other.close();
  const Json report = json_report(folder_.path("other.h5"));
  EXPECT_EQ(report["patterns"]["count"], 2);
  EXPECT_THAT(report["geometry"]["energy_eV"].get<std::string>(), HasSubstr("must be one number"));
}

TEST_F(Inspect, PrintsTheSameAsText) {
  write_scan(folder_.path("scan.h5"), {6}, "data");
  const std::string report = inspect_report(folder_.path("scan.h5"), false);
  EXPECT_THAT(report, ::testing::ContainsRegex("  mean_counts_per_pattern +45\n"));
  EXPECT_THAT(report, ::testing::ContainsRegex("  extent_m +3e-06, 4e-06\n"));
}

/// 20 x 24 object with a ramp, two modes with powers 3 : 1, two windows of 8 x 6.
/// @param number a dataset that is one number instead
void write_result(const std::string& path, const std::string& number = "") {
  io::File file = io::File::create(path);
  WaveStack object(1, {20, 24});
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 24; ++x) object(0, y, x) = std::polar(1.0, 0.3 * y - 0.2 * x);
  WaveStack probe(2, {8, 6});
  std::fill(probe.image(0), probe.image(1), std::sqrt(3.0));
  std::fill(probe.image(1), probe.image(1) + 48, std::complex<double>(0, 1));
  auto write = [&](const std::string& name, const WaveStack& waves) {
    if (name == number) return file.write_doubles(name, {}, {7});
    const io::Extents extents{waves.n(), waves.h(), waves.w()};
    file.create_dataset(name, extents, io::ElementType::complex64);
    file.write_slab(name, {0, 0, 0}, extents, io::ElementType::complex128, waves.data());
  };
  write("object", object);
  write("probe", probe);
  file.write_doubles("window_corner_px", {2, 2}, {2, 3, 7.1, 9.4});
  if (number == "positions_m")
    file.write_doubles("positions_m", {}, {7});
  else
    file.write_doubles("positions_m", {2, 2}, {0, 0, 3e-6, 4e-6});
  file.write_doubles("history/error", {3}, {0.5, 0.2, 0.1});
  file.write_doubles("tiles/owned", {2, 4}, {0, 0, 20, 10, 0, 10, 20, 24});
  file.set_attribute("/", "final_error", 0.09);
  file.set_attribute("/", "format", "tessera-result 1");
  file.write_text("versions", "tessera 0.1.0\nHDF5 1.10.8");
  file.close();
}

/// As damaged files have them.
TEST_F(Inspect, RefusesNumbersInPlaceOfArraysByName) {
  for (const std::string name : {"object", "probe", "positions_m"}) {
    const std::string path = folder_.path(name + ".h5");
    write_result(path, name);
    for (const bool as_json : {false, true}) try {
        inspect_report(path, as_json);
        ADD_FAILURE() << name << " was taken";
      } catch (const InputError& error) {
        EXPECT_THAT(error.what(), ::testing::AllOf(HasSubstr('"' + name + '"'), HasSubstr(path)));
      }
  }
}

TEST_F(Inspect, TakesNoMemoryForAShapeWithoutValues) {
  const std::string path = folder_.path("huge.h5");
  write_result(path);
  tessera::testing::add_huge(path, "huge");
  const io::File file = io::File::open(path);
  try {
    read_points(file, "huge");
    FAIL() << "read";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::AllOf(HasSubstr(path), HasSubstr("holds 1024 bytes")));
  }
}

TEST_F(Inspect, SumsUpAResult) {
  write_result(folder_.path("result.h5"));
  const Json report = json_report(folder_.path("result.h5"));
  EXPECT_EQ(report["kind"], "result");
  EXPECT_EQ(report["object"]["shape_px"], Json({20, 24}));
  EXPECT_NEAR(report["probe"]["power_counts"], 48 * 4, 1e-4);
  EXPECT_NEAR(report["probe"]["power_share_of_modes"][0], 0.75, 1e-6);
  EXPECT_EQ(report["history"]["first_error"], 0.5);
  EXPECT_EQ(report["history"]["last_error"], 0.1);
  EXPECT_EQ(report["history"]["final_error"], 0.09);
  EXPECT_DOUBLE_EQ(report["positions"]["median_step_m"], 5e-6);
  EXPECT_EQ(report["tiles"]["count"], 2);
  EXPECT_EQ(report["tiles"]["most_owned_pixels"], 280);
  EXPECT_THAT(inspect_report(folder_.path("result.h5"), false), HasSubstr("tessera 0.1.0\n   "));
}

TEST_F(Inspect, NamesAFileThatIsNeither) {
  io::File file = io::File::create(folder_.path("neither.h5"));
  file.write_doubles("numbers", {4}, {1, 2, 3, 4});
  file.close();
  try {
    inspect_report(folder_.path("neither.h5"), false);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("neither.h5"));
  }
}

/// Width and height, as a PNG's header says.
std::array<int, 2> png_size(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::array<unsigned char, 24> head{};
  in.read(reinterpret_cast<char*>(head.data()), head.size());
  if (std::string(head.begin() + 1, head.begin() + 4) != "PNG") return {};
  auto number = [&](int at) {
    return (head[at] << 24) | (head[at + 1] << 16) | (head[at + 2] << 8) | head[at + 3];
  };
  return {number(16), number(20)};
}

TEST_F(Inspect, PicturesShowTheIlluminatedBoxAndEveryMode) {
  write_result(folder_.path("result.h5"));
  const auto written = write_pictures(folder_.path("result.h5"), folder_.path("new/pictures"));
  EXPECT_EQ(written.size(), 3u);
  using Size = std::array<int, 2>;
  // Windows start at (2, 3) and (7, 9).
  const io::File result = io::File::open(folder_.path("result.h5"));
  const ObjectPicture object = object_picture(result, result.read_waves("probe"), 1);
  EXPECT_EQ(object.begin, (Pixel{2, 3}));
  EXPECT_EQ(object.waves.shape(), (Shape2{13, 12}));
  // A colour bar of 30 x 12 in gaps of 6, and letters of 8: "1", "... rad", "-pi rad".
  EXPECT_EQ(png_size(folder_.path("new/pictures/object_amplitude.png")), (Size{12 + 30 + 8, 30}));
  EXPECT_GE(png_size(folder_.path("new/pictures/object_phase.png"))[0], 12 + 30 + 5 * 8);
  EXPECT_EQ(png_size(folder_.path("new/pictures/object_phase.png"))[1], 30);
  EXPECT_EQ(png_size(folder_.path("new/pictures/probe.png")), (Size{12 + 30 + 7 * 8, 30}));
}

TEST_F(Inspect, PicturesOfAScan) {
  write_scan(folder_.path("scan.h5"), {6}, "data");
  const auto written = write_pictures(folder_.path("scan.h5"), folder_.path("pictures"));
  ASSERT_EQ(written.size(), 2u);
  EXPECT_EQ(png_size(written[0]), (std::array<int, 2>{5 + 30 + 10 * 8, 30})) << "2.5 counts";
  EXPECT_GT(png_size(written[1])[0], 0);
}

}  // namespace
}  // namespace tessera::analysis
