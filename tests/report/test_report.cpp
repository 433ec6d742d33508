// Every figure of a report against the result that it is of.

#include <cmath>
#include <complex>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "tessera/base/error.hpp"
#include "tessera/io/hdf5.hpp"

#include "analysis/compare.hpp"
#include "report/report.hpp"
#include "report/small_result.hpp"
#include "support/scratch_folder.hpp"

namespace tessera::report {
namespace {

using tessera::testing::SmallResult;

/// As the page decodes them: encoded_picture.hpp.
std::vector<double> decoded(const Json& picture) {
  const std::string text = picture["samples"];
  std::vector<unsigned char> packed;
  unsigned bits = 0, n_bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    const unsigned digit = c >= 'a'   ? c - 'a' + 26
                           : c >= 'A' ? c - 'A'
                           : c >= '0' ? c - '0' + 52
                           : c == '+' ? 62
                                      : 63;
    bits = bits << 6 | digit;
    n_bits += 6;
    if (n_bits >= 8) packed.push_back(static_cast<unsigned char>(bits >> (n_bits -= 8)));
  }
  const std::size_t h = picture["shape"][0], w = picture["shape"][1], n = h * w;
  std::vector<unsigned char> bytes(2 * n);
  uLongf length = bytes.size();
  EXPECT_EQ(uncompress(bytes.data(), &length, packed.data(), packed.size()), Z_OK);
  EXPECT_EQ(length, bytes.size());
  std::vector<double> values;
  unsigned level = 0;
  const double min = picture["min"], max = picture["max"];
  for (std::size_t r = 0; r < n; ++r) {
    level = ((r % w == 0 ? 0 : level) + bytes[r] + 256U * bytes[n + r]) & 65535U;
    values.push_back(level == 65535 ? std::nan("") : min + level * (max - min) / 4095);
  }
  return values;
}

/// Half a level, and rounding.
double tolerance(const Json& picture) {
  return (picture["max"].get<double>() - picture["min"].get<double>()) / 4095 * 0.501 + 1e-12;
}

class Report : public ::testing::Test {
 protected:
  Report() { result_.write(path_); }
  Json run() const { return contents({path_})["runs"][0]; }

  const tessera::testing::ScratchFolder folder_;
  const std::string path_ = folder_.path("result.h5");
  const SmallResult result_;
};

TEST_F(Report, ShowsWhatIsLitOfTheObject) {
  const Json object = run()["object"];
  const Box lit = result_.lit;
  EXPECT_EQ(object["whole_px"], Json({40, 48}));
  EXPECT_EQ(object["begin_px"], Json({lit.begin.y, lit.begin.x}));
  EXPECT_EQ(object["stride"], 1);
  EXPECT_EQ(object["amplitude"]["shape"], Json({lit.height(), lit.width()}));
  EXPECT_FALSE(object.contains("turns"));
  const std::vector<double> amplitude = decoded(object["amplitude"]);
  const std::vector<double> phase = decoded(object["phase"]);
  std::complex<double> mean = 0;
  for (int y = lit.begin.y; y < lit.end.y; ++y)
    for (int x = lit.begin.x; x < lit.end.x; ++x) mean += result_.object(0, y, x);
  for (int y = 0; y < lit.height(); ++y)
    for (int x = 0; x < lit.width(); ++x) {
      const auto value = result_.object(0, lit.begin.y + y, lit.begin.x + x);
      const std::size_t r = static_cast<std::size_t>(y) * lit.width() + x;
      ASSERT_NEAR(amplitude[r], std::abs(value), tolerance(object["amplitude"])) << y << " " << x;
      ASSERT_NEAR(phase[r], std::arg(value / mean), tolerance(object["phase"])) << y << " " << x;
    }
}

TEST_F(Report, LeavesOutPixelsThatAreNotFinite) {
  const Json sound = run()["object"];
  SmallResult spoilt;
  spoilt.object(0, 4, 4) = std::nan("");
  spoilt.write(path_);
  const Json object = run()["object"];
  const std::vector<double> amplitude = decoded(object["amplitude"]);
  EXPECT_TRUE(std::isnan(amplitude[0]));
  EXPECT_NEAR(amplitude[1], decoded(sound["amplitude"])[1], 1e-3);
  EXPECT_NEAR(decoded(object["phase"])[1], decoded(sound["phase"])[1], 1e-3);
  std::fill(spoilt.object.begin(), spoilt.object.end(), std::nan(""));
  spoilt.write(path_);
  EXPECT_THROW(run(), InputError);
}

TEST_F(Report, ShowsTheProductOfSlicesAndEach) {
  SmallResult thick;
  const WaveStack slice = thick.object;
  thick.object = WaveStack(2, slice.shape());
  std::copy(slice.begin(), slice.end(), thick.object.image(0));
  std::transform(slice.begin(), slice.end(), thick.object.image(1),
                 [](const auto& value) { return value * std::abs(value); });
  thick.write(path_);
  const Json object = run()["object"];
  ASSERT_EQ(object["images"].size(), 2u);
  EXPECT_EQ(object["images"][1]["name"], "slice 2");
  const std::vector<double> first = decoded(object["images"][0]["amplitude"]);
  const std::vector<double> second = decoded(object["images"][1]["amplitude"]);
  const std::vector<double> product = decoded(object["amplitude"]);
  const std::vector<double> second_phase = decoded(object["images"][1]["phase"]);
  const Json alone = (result_.write(path_), run()["object"]);
  const std::vector<double> phase = decoded(alone["phase"]);
  for (std::size_t r = 0; r < first.size(); ++r) {
    const double a =
        std::abs(slice(0, result_.lit.begin.y + static_cast<int>(r) / result_.lit.width(),
                       result_.lit.begin.x + static_cast<int>(r) % result_.lit.width()));
    ASSERT_NEAR(first[r], a, 1e-4);
    ASSERT_NEAR(second[r], a * a, 2e-4);
    ASSERT_NEAR(product[r], a * a * a, 3e-4);
    ASSERT_NEAR(std::remainder(second_phase[r] - second_phase[0] - phase[r] + phase[0], 6.2831853),
                0, 1e-3);
  }
}

TEST_F(Report, ShowsEveryModeWithItsPower) {
  const Json probe = run()["probe"];
  EXPECT_NEAR(probe["power_counts"].get<double>(), 256 * (9 + 4), 1e-9);
  ASSERT_EQ(probe["images"].size(), 3u);
  EXPECT_EQ(probe["images"][1]["name"], "mode 2");
  EXPECT_EQ(probe["images"][2]["name"], "OPR mode 1");
  EXPECT_NEAR(probe["images"][1]["share"].get<double>(), 4.0 / 13, 1e-12);
  EXPECT_NEAR(probe["images"][2]["power_counts"].get<double>(), 256, 1e-9);
  for (int i = 0; i < 3; ++i) {
    const Json& image = probe["images"][i];
    const std::vector<double> amplitude = decoded(image["amplitude"]);
    const std::vector<double> phase = decoded(image["phase"]);
    for (std::size_t r = 0; r < amplitude.size(); ++r) {
      const auto value = result_.probe.image(i)[r];
      ASSERT_NEAR(amplitude[r], std::abs(value), tolerance(image["amplitude"]));
      ASSERT_NEAR(phase[r], std::arg(value), tolerance(image["phase"]));
    }
  }
  EXPECT_EQ(probe["along_z"]["y"]["shape"][0], 16);
}

TEST_F(Report, HasHistoryPositionsAndWhatWasFitted) {
  const Json shown = run();
  EXPECT_EQ(shown["history"]["error"], Json({0.5, 0.2, 0.1, 0.05}));
  EXPECT_EQ(shown["history"]["stage"], Json({0, 0, 1, 1}));
  EXPECT_EQ(shown["history"]["solvers"], Json({"rpie", "lsqml"}));
  EXPECT_EQ(Json::parse(shown["history"]["validation_error"].dump()),
            Json({0.6, nullptr, 0.3, 0.2}));
  const Json& positions = shown["positions"];
  EXPECT_EQ(positions["count"], SmallResult::n_positions);
  for (int i = 0; i < SmallResult::n_positions; ++i) {
    EXPECT_EQ(positions["after_m"][i], Json({1e-6 * i, 2e-6 * i}));
    EXPECT_NEAR(positions["before_m"][i][0].get<double>(), 1e-6 * i - 0.5 * 20e-9, 1e-18);
    EXPECT_NEAR(positions["before_m"][i][1].get<double>(), 2e-6 * i + 0.25 * i * 20e-9, 1e-18);
    EXPECT_EQ(positions["intensity"][i][0], result_.intensity(i));
    EXPECT_EQ(positions["opr_weight"][i][0], result_.opr_weight(i));
  }
  const std::vector<double> background = decoded(shown["background"]);
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 16; ++x)
      EXPECT_NEAR(background[static_cast<std::size_t>((y + 8) % 16 * 16 + (x + 8) % 16)],
                  result_.background(0, y, x), tolerance(shown["background"]));
  EXPECT_EQ(shown["tiles"]["ghosted"][1], Json({0.0, 18.0, 40.0, 48.0}));
  EXPECT_EQ(shown["halves"]["rings"]["correlation"], Json({1.0, 0.6, 0.1}));
  EXPECT_EQ(shown["halves"]["half_bit_nyquist_fraction"], 0.875);
  EXPECT_EQ(shown["ranks"], Json({{"compute_s", {3.5, 4.0}}, {"device_bytes", {5e6, 6e6}}}));
  EXPECT_EQ(shown["figures"]["final_error"], 0.04);
  EXPECT_EQ(shown["figures"]["status"], "finished");
  EXPECT_EQ(shown["figures"]["bad_patterns"], "positions 2, 3");
  EXPECT_EQ(shown["hosts"], "node1\nnode2");
}

TEST_F(Report, ShowsTheWorstPatternsAsRootsOfCounts) {
  const Json shown = run()["worst_patterns"];
  ASSERT_EQ(shown.size(), 1u);
  EXPECT_EQ(shown[0]["position"], 7);
  EXPECT_EQ(shown[0]["error"], 0.25);
  const std::vector<double> roots[] = {{0, 1, 2, 3, 4}, {1, 1, 2, 2, 4}};
  for (int i = 0; i < 2; ++i) {
    const Json& picture = shown[0][i == 0 ? "measured" : "expected"];
    const std::vector<double> values = decoded(picture);
    for (std::size_t r = 0; r < 5; ++r) EXPECT_NEAR(values[r], roots[i][r], tolerance(picture));
    EXPECT_TRUE(std::isnan(values[5])) << "not trusted";
  }
}

TEST_F(Report, TellsKeysOfTheDeckFromDefaults) {
  std::map<std::string, Json> keys;
  const Json shown = run();
  for (const Json& row : shown["deck"]) keys[row["key"]] = row;
  EXPECT_EQ(keys["experiment.energy_eV"]["value"], "8800.0");
  EXPECT_FALSE(keys["experiment.energy_eV"].contains("default"));
  EXPECT_EQ(keys["probe.n_modes"]["value"], "2");
  EXPECT_EQ(keys["probe.n_modes"]["default"], "1");
  EXPECT_EQ(keys["solver[1].epochs"]["default"], "100");
  EXPECT_EQ(keys["solver[1].batch_order"]["value"], keys["solver[1].batch_order"]["default"]);
  EXPECT_THAT(keys["experiment.energy_eV"]["meaning"].get<std::string>(),
              ::testing::HasSubstr("eV"));
}

TEST_F(Report, ComparesTwoRunsAsCompareDoes) {
  SmallResult other;
  for (auto& value : other.object) value *= std::polar(1.02, 0.3);
  other.object(0, 20, 20) = 0.5;
  const std::string reference = folder_.path("other.h5");
  other.write(reference);
  const Json all = contents({path_, reference});
  ASSERT_EQ(all["runs"].size(), 2u);
  EXPECT_EQ(all["runs"][1]["file"], reference);
  const analysis::Comparison expected =
      analysis::compare_files(path_, reference, comm::Communicator(MPI_COMM_SELF));
  const Json& found = all["comparison"]["found"];
  EXPECT_EQ(found["after"]["object_difference"], expected.after.object);
  EXPECT_EQ(found["rings"]["correlation"], Json(expected.rings.correlation));
  EXPECT_EQ(found["resolution"]["one_bit_nyquist_fraction"], expected.one_bit_fraction);
}

TEST_F(Report, ShowsTwoRunsThatCannotBeCompared) {
  SmallResult other;
  other.pixel_m = 30e-9;
  const std::string reference = folder_.path("other.h5");
  other.write(reference);
  const Json all = contents({path_, reference});
  EXPECT_EQ(all["runs"].size(), 2u);
  EXPECT_THAT(all["comparison"]["refused"].get<std::string>(),
              ::testing::HasSubstr("object_pixel_m"));
}

TEST_F(Report, RefusesWhatIsNoResult) {
  io::File file = io::File::create(folder_.path("neither.h5"));
  file.write_doubles("numbers", {1}, {1});
  file.close();
  const comm::Communicator comm;
  try {
    write({folder_.path("neither.h5")}, folder_.path("report.html"), comm);
    FAIL() << "accepted";
  } catch (const AgreedError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("neither.h5"));
  }
  EXPECT_THROW(write({path_}, path_, comm), AgreedError);
  EXPECT_THROW(write({path_}, folder_.path("neither.h5"), comm), AgreedError) << "no page";
}

}  // namespace
}  // namespace tessera::report
