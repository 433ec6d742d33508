// What init and inspect read from the files of cameras besides patterns.

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/init.hpp"
#include "analysis/inspect.hpp"
#include "support/scratch_folder.hpp"
#include "support/written_values.hpp"

namespace tessera::analysis {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(InitOfAFileOfFrames, NamesTheMaster) {
  const testing::ScratchFolder folder;
  for (const char* name : {"scan_data_000001.h5", "scan_master.h5"}) {
    io::File file = io::File::create(folder.path(name));
    file.write_doubles("entry/data/data", {4, 8, 8}, std::vector<double>(256, 1.0));
    file.close();
  }
  EXPECT_THAT(draft_deck(folder.path("scan_data_000001.h5"), folder.path("scan.toml")).report,
              HasSubstr("scan_master.h5\": tessera init that"));
}

TEST(InspectOfAScan, SaysWhatTheFileCallsIt) {
  const testing::ScratchFolder folder;
  const std::string path = folder.path("scan.cxi");
  io::File file = io::File::create(path);
  file.write_doubles("entry_1/data_1/data", {2, 8, 8}, std::vector<double>(128, 1.0));
  file.write_text("entry_1/title", "a title");
  file.write_text("entry_1/sample_1/name", "a star");
  file.write_text("entry_1/start_time", "2024-05-01");
  file.close();
  EXPECT_THAT(inspect_report(path, true),
              AllOf(HasSubstr("\"title\": \"a title\""), HasSubstr("\"sample\": \"a star\""),
                    HasSubstr("\"measured_at\": \"2024-05-01\"")));
}

/// A phase object seen by electrons: the disc moves with the phase's gradient, turned by
/// `turn_rad`.
void write_camera(const testing::ScratchFolder& folder, double turn_rad, bool exchanged) {
  const Shape2 raster{12, 15};
  std::vector<double> counts;
  for (int p = 0; p < raster.size(); ++p) {
    const double y = 0.7 * (p / raster.w);
    const double x = 0.5 * (p % raster.w);
    const Vec2 gradient{std::cos(y) * std::cos(x), -std::sin(y) * std::sin(x)};
    Vec2 moved{gradient.y * std::cos(turn_rad) + gradient.x * std::sin(turn_rad),
               gradient.x * std::cos(turn_rad) - gradient.y * std::sin(turn_rad)};
    if (exchanged) std::swap(moved.y, moved.x);
    for (int row = 0; row < 32; ++row)
      for (int column = 0; column < 32; ++column)
        counts.push_back(std::round(
            50 /
            (1 + std::exp(std::hypot(row - 16 - 2 * moved.y, column - 16 - 2 * moved.x) - 6))));
  }
  io::File file = io::File::create(folder.path("scan_master.h5"));
  testing::write_values(file, "entry/data/data", {raster.size(), 32, 32}, io::ElementType::u16,
                        counts);
  const std::string detector = "entry/instrument/detector/";
  file.write_text(detector + "description", "Dectris Arina Si");
  file.write_doubles(detector + "detectorSpecific/ntrigger", {1}, {12});
  file.write_doubles(detector + "detectorSpecific/nimages", {1}, {15});
  file.write_doubles("entry/instrument/beam/incident_energy", {1}, {200e3});
  file.close();
}

TEST(InitOfACameraForElectrons, AsksForWhatTheFileDoesNotSay) {
  const testing::ScratchFolder folder;
  write_camera(folder, 0, false);
  const Draft draft = draft_deck(folder.path("scan_master.h5"), folder.path("scan.toml"));
  EXPECT_THAT(draft.deck,
              AllOf(HasSubstr("raster_shape = [12, 15]"), HasSubstr("voltage_V = 2e+05"),
                    HasSubstr("instrument = \"Dectris Arina Si\""), HasSubstr("# raster_step_m = "),
                    HasSubstr("# detector_pixel_rad = ")));
}

TEST(InitOfACameraForElectrons, IsForWhatSaysNoEnergy) {
  const testing::ScratchFolder folder;
  io::File file = io::File::create(folder.path("scan_master.h5"));
  file.write_doubles("entry/data/data", {9, 16, 16}, std::vector<double>(9 * 256, 1.0));
  file.write_text("entry/instrument/detector/description", "DECTRIS");
  file.close();
  const Draft draft = draft_deck(folder.path("scan_master.h5"), folder.path("scan.toml"));
  EXPECT_THAT(draft.deck, AllOf(HasSubstr("raster_shape = [3, 3]"), HasSubstr("# voltage_V = ")));
}

TEST(InitOfACameraForElectrons, FindsATurnedScanAndExchangedAxes) {
  const testing::ScratchFolder folder;
  write_camera(folder, 0.403, false);
  const Draft turned = draft_deck(folder.path("scan_master.h5"), folder.path("scan.toml"));
  EXPECT_THAT(turned.report, AllOf(HasSubstr("orientation"), Not(HasSubstr("exchanged"))));
  EXPECT_THAT(turned.deck, HasSubstr("raster_rotation_rad = 0.4"));
  write_camera(folder, 0.403, true);
  const Draft crossed = draft_deck(folder.path("scan_master.h5"), folder.path("scan.toml"));
  EXPECT_THAT(crossed.report, HasSubstr("warning     rows and columns of the patterns are "));
  EXPECT_THAT(crossed.deck,
              AllOf(HasSubstr("transpose = true"), HasSubstr("raster_rotation_rad = 0.4")));
}

}  // namespace
}  // namespace tessera::analysis
