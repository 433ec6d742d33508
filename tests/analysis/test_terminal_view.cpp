// A result drawn with characters, whose every one is known.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"
#include "tessera/io/hdf5.hpp"

#include "analysis/terminal_view.hpp"
#include "support/scratch_folder.hpp"

namespace tessera::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// 8 x 8 pixels, all lit, flat in phase; amplitude 1 on the left and 1/2 on the right.
void write_step_result(const std::string& path) {
  io::File file = io::File::create(path);
  WaveStack object(1, {8, 8});
  WaveStack probe(1, {8, 8});
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x) {
      object(0, y, x) = x < 4 ? 1 : 0.5;
      probe(0, y, x) = 1;
    }
  const auto write = [&](const std::string& name, const WaveStack& waves) {
    file.create_dataset(name, {1, 8, 8}, io::ElementType::complex128);
    file.write_slab(name, {0, 0, 0}, {1, 8, 8}, io::ElementType::complex128, waves.data());
  };
  write("object", object);
  write("probe", probe);
  file.write_doubles("window_corner_px", {1, 2}, {0, 0});
  file.write_doubles("history/error", {2}, {1, 0.1});
  file.close();
}

class TerminalView : public ::testing::Test {
 protected:
  TerminalView() { write_step_result(path_); }
  const tessera::testing::ScratchFolder folder_;
  const std::string path_ = folder_.path("result.h5");
};

TEST_F(TerminalView, DrawsShadesWhereThereAreNoColours) {
  const std::string view = terminal_view(path_, {.columns = 20});
  EXPECT_THAT(view, HasSubstr("phase 0 to 0 rad  amplitude 0.5 to 1\n"
                              "          ████    \n"
                              "          ████    \n"
                              "          ████    \n"
                              "          ████    \n"));
  EXPECT_THAT(view, HasSubstr("        1 ▀▄\n"
                              "           █\n"));
  EXPECT_THAT(view, HasSubstr("      0.1  █\n"
                              "          error E, epochs 1 to 2\n"));
  EXPECT_THAT(view, Not(HasSubstr("\x1b")));
}

TEST_F(TerminalView, DrawsGreysWhereThereAre) {
  const std::string view = terminal_view(path_, {.columns = 20, .has_colours = true});
  const std::string white = "\x1b[38;5;255;48;5;255m▀";
  const std::string black = "\x1b[38;5;232;48;5;232m▀";
  EXPECT_THAT(
      view, HasSubstr(white + white + white + white + black + black + black + black + "\x1b[0m\n"));
}

TEST_F(TerminalView, RefusesWhatIsNoResult) {
  const std::string scan = folder_.path("scan.h5");
  io::File file = io::File::create(scan);
  file.write_doubles("patterns", {1, 2, 2}, {1, 2, 3, 4});
  file.close();
  try {
    terminal_view(scan, {});
    FAIL() << "drawn";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::AllOf(HasSubstr(scan), HasSubstr("--view")));
  }
}

}  // namespace
}  // namespace tessera::analysis
