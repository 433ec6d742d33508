// The page of tiles as a browser has it, and the folder that it stands in.

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"
#include "tessera/io/hdf5.hpp"

#include "io/small_disk.hpp"
#include "report/chromium.hpp"
#include "report/small_result.hpp"
#include "report/zoom.hpp"
#include "report/zoom_folder.hpp"
#include "support/environment.hpp"

namespace tessera::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::world;
namespace fs = std::filesystem;

class ZoomPage : public ::testing::Test {
 protected:
  ZoomPage() { write(testing::SmallResult()); }
  void write(const testing::SmallResult& result) const {
    world().barrier();  // nobody has the one before open
    world().together([&] {
      if (world().is_root()) result.write(path_);
    });
  }
  std::string refusal(const std::string& path, const std::string& folder) const {
    try {
      write_zoom_page(path, folder, world());
    } catch (const AgreedError& error) {
      return error.what();
    }
    return "accepted";
  }
  const testing::ZoomFolder folder_;
  const std::string path_ = folder_.path("result.h5");
  const std::string zoom_ = folder_.path("a/zoom");
};

TEST_F(ZoomPage, ReplacesWhatItHasWrittenAndNothingElse) {
  testing::SmallResult two;
  two.object = WaveStack(2, two.object.shape(), 1.0);
  write(two);
  write_zoom_page(path_, zoom_, world());
  if (world().is_root()) {
    EXPECT_TRUE(fs::exists(zoom_ + "/slice_2_phase.dzi"));
    EXPECT_TRUE(fs::exists(zoom_ + "/slice_2_phase_files/0/0_0.png"));
    std::ofstream(zoom_ + "/notes.txt") << "dear";
  }
  write(testing::SmallResult());
  write_zoom_page(path_, zoom_, world());
  if (!world().is_root()) return;
  EXPECT_FALSE(fs::exists(zoom_ + "/slice_2_phase.dzi"));
  EXPECT_FALSE(fs::exists(zoom_ + "/slice_2_phase_files"));
  EXPECT_TRUE(fs::exists(zoom_ + "/object_phase_files/0/0_0.png"));
  EXPECT_EQ(testing::contents_of(zoom_ + "/notes.txt"), "dear");
  EXPECT_THAT(testing::contents_of(zoom_ + "/object_phase.dzi"),
              AllOf(HasSubstr("TileSize=\"256\""), HasSubstr("Overlap=\"0\""),
                    HasSubstr("Format=\"png\""), HasSubstr("Width=\"40\" Height=\"32\"")));
}

TEST_F(ZoomPage, RefusesAFolderOfOthers) {
  world().together([&] {
    if (!world().is_root()) return;
    fs::create_directories(zoom_);
    std::ofstream(zoom_ + "/index.html") << "<!doctype html><p>somebody's";
  });
  EXPECT_THAT(refusal(path_, zoom_), AllOf(HasSubstr(zoom_), HasSubstr("holds other things")));
  EXPECT_THAT(refusal(path_, path_), HasSubstr("name a new folder"));
  world().barrier();
  EXPECT_EQ(testing::contents_of(zoom_ + "/index.html"), "<!doctype html><p>somebody's");
}

TEST_F(ZoomPage, RefusesWhatIsNoResult) {
  const std::string other = folder_.path("other.h5");
  world().together([&] {
    if (!world().is_root()) return;
    io::File file = io::File::create(other);
    file.write_doubles("data", {1}, {1});
    file.close();
  });
  EXPECT_THAT(refusal(other, zoom_), AllOf(HasSubstr(other), HasSubstr("shows results")));
  EXPECT_THAT(refusal("deck.toml", zoom_), HasSubstr("shows results"));
  EXPECT_FALSE(fs::exists(zoom_));
}

TEST_F(ZoomPage, NamesThePackageOfAMissingLibrary) {
  const tessera::testing::EnvironmentVariable missing("TESSERA_LEAFLET", "/no/leaflet");
  EXPECT_THAT(refusal(path_, zoom_), AllOf(HasSubstr("/no/leaflet"), HasSubstr("libjs-leaflet")));
  EXPECT_FALSE(fs::exists(zoom_));
}

/// There is room for the descriptions, but for no tile of the last level.
TEST_F(ZoomPage, LeavesNothingOnAFullDisk) {
  {
    const io::testing::SmallDisk small(500);
    EXPECT_THAT(refusal(path_, zoom_), AllOf(HasSubstr(zoom_), HasSubstr("6/0_0.png")));
  }
  EXPECT_FALSE(fs::exists(zoom_));
}

TEST_F(ZoomPage, ShowsTilesAndAsksForNothing) {
  testing::SmallResult result;
  result.title = "</script><b>not ours</b>";
  write(result);
  write_zoom_page(path_, zoom_, world());
  std::string page = testing::contents_of(zoom_ + "/index.html");
  EXPECT_THAT(page, HasSubstr("\"default-src 'none'; script-src 'unsafe-inline'; style-src "
                              "'unsafe-inline'; img-src 'self' file: data:\""));
  EXPECT_THAT(page, AllOf(HasSubstr("Leaflet 1."), Not(HasSubstr("{{maker")),
                          Not(HasSubstr("<b>not ours"))));
  if (!world().is_root()) return;
  const auto shown = testing::shown_in_chromium(zoom_ + "/index.html", folder_.path("browser"));
  if (!shown) GTEST_SKIP() << "there is no chromium on this machine (Debian's package chromium)";
  EXPECT_THAT(shown->page, HasSubstr("data-state=\"shown\"")) << shown->console;
  EXPECT_THAT(shown->console, Not(HasSubstr("CONSOLE")));
  // The lit box of 32 x 40 pixels is less than a tile: it is enlarged from the last level.
  EXPECT_THAT(shown->page, AllOf(HasSubstr("src=\"object_phase_files/6/0_0.png\""),
                                 HasSubstr("width: 40px; height: 32px")));
}

}  // namespace
}  // namespace tessera::report
