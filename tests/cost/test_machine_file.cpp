// A machine written and read, and files that hold none.

#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"

#include "cost/machine_file.hpp"
#include "some_machine.hpp"
#include "support/scratch_folder.hpp"

namespace tessera::cost {
namespace {

using ::testing::HasSubstr;
using testing::some_machine;

class MachineFile : public ::testing::Test {
 protected:
  std::string write(const std::string& contents) {
    const std::string path = folder_.path("machine.toml");
    std::ofstream(path) << contents;
    return path;
  }
  /// The message for the file of some_machine with `from` replaced by `to`.
  std::string refusal(const std::string& from, const std::string& to) {
    std::string contents = machine_text(some_machine(), "");
    const std::size_t at = contents.find(from);
    EXPECT_NE(at, std::string::npos) << contents;
    contents.replace(at, from.size(), to);
    try {
      read_machine(write(contents));
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(folder_.path("machine.toml")));
      return error.what();
    }
    return "taken";
  }

  testing::ScratchFolder folder_;
};

TEST_F(MachineFile, ReadsBackWhatWasWritten) {
  Machine wrote = some_machine();
  wrote.cores = 3;
  wrote.cache_bytes = 5e7;
  wrote.windows[0].at_once = 528;
  wrote.windows[0].at_least = 198;
  wrote.windows[0].far_wave_s = 15e-9;
  const Machine read = read_machine(write(machine_text(wrote, "# a head\n")));
  EXPECT_EQ(read.name, wrote.name);
  EXPECT_EQ(read.on_gpu, wrote.on_gpu);
  EXPECT_EQ(read.cores, 3);
  EXPECT_DOUBLE_EQ(read.copy_bytes_per_s, wrote.copy_bytes_per_s);
  EXPECT_DOUBLE_EQ(read.file_bytes_per_s, wrote.file_bytes_per_s);
  EXPECT_DOUBLE_EQ(read.cache_bytes, 5e7);
  ASSERT_EQ(read.methods.size(), 2u);
  EXPECT_DOUBLE_EQ(read.methods.at("lsqml").factor, 1.75);
  EXPECT_DOUBLE_EQ(read.methods.at("lsqml").batch_s, 2e-5);
  ASSERT_EQ(read.windows.size(), 2u);
  EXPECT_DOUBLE_EQ(read.windows[1].window_px, 256);
  EXPECT_DOUBLE_EQ(read.windows[1].shift_s, 128e-5);
  EXPECT_DOUBLE_EQ(read.windows[0].touched_px_s, 1e-9);
  EXPECT_DOUBLE_EQ(read.windows[0].far_wave_s, 15e-9);
  EXPECT_EQ(read.windows[0].at_once, 528);
  EXPECT_EQ(read.windows[0].at_least, 198);
  EXPECT_EQ(read.windows[0].slowdown, wrote.windows[0].slowdown);
  ASSERT_EQ(read.links.size(), 2u);
  EXPECT_EQ(read.links[1].n_ranks, 4);
  EXPECT_DOUBLE_EQ(read.links[1].all_reduce_bytes_per_s, 5e8);
}

TEST_F(MachineFile, RefusesWhatIsNone) {
  EXPECT_THAT(refusal("real_bytes = 4", "real_bytes = 3"), HasSubstr("real_bytes must be 4 or 8"));
  EXPECT_THAT(refusal("copy_bytes_per_s", "copies"), HasSubstr("copy_bytes_per_s must be"));
  EXPECT_THAT(refusal("window_px = 256", "window_px = 64"), HasSubstr("window_px must rise"));
  EXPECT_THAT(refusal("slowdown = [1, 1.5]", "slowdown = [1]"),
              HasSubstr("slowdown must hold 2 numbers"));
  EXPECT_THAT(refusal("wave_s = ", "wave_s = -"), HasSubstr("wave_s must be a number >= 0"));
  EXPECT_THAT(refusal("wave_s = ", "wave_s = \"x\" #"), HasSubstr("wave_s must be a number"));
  EXPECT_THAT(refusal("at_once = 1", "at_once = 0"), HasSubstr("at_once must be >= 1"));
  EXPECT_THAT(refusal("factor = 1.75", "factor = -1"), HasSubstr("factor must be a number >= 0"));
  EXPECT_THAT(refusal("[[links]]", "[[linked]]"), HasSubstr("links"));
  EXPECT_THAT(refusal("name = ", "name == "), HasSubstr("not a machine file"));
  EXPECT_THROW(read_machine(folder_.path("none.toml")), InputError);
}

}  // namespace
}  // namespace tessera::cost
