// A save that has changed since it was written is told from one that has not, on any ranks.

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tessera/io/save.hpp"

#include "io/scan_file.hpp"

namespace tessera::io {
namespace {

using namespace testing;
using tessera::testing::world;

class Save : public ::testing::Test {
 protected:
  /// 3 MB: blocks for several ranks, and a rest.
  void save(double value, bool keeps_older) const {
    AtomicFile file(path_, 4 << 20, world());
    File made = File::create(file.partial_path(), world());
    made.write_doubles("x", {400001}, std::vector<double>(400001, value));
    made.close();
    commit_save(file, path_, keeps_older, world());
  }
  static double value_in(const std::string& path) { return File::open(path).read_doubles("x")[7]; }
  /// Changes one bit.
  void flip(std::uintmax_t at) const {
    on_root([&] {
      std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(static_cast<std::streamoff>(at));
      const int byte = file.get();
      file.seekp(static_cast<std::streamoff>(at));
      file.put(static_cast<char>(byte ^ 16));
    });
    world().barrier();
  }
  const TemporaryFolder folder_;
  const std::string path_ = folder_.file("result.h5");
  const std::string older_ = older_save(path_);
};

TEST_F(Save, KeepsTheOneBefore) {
  for (const double value : {1., 2., 3.}) {
    save(value, true);
    world().barrier();
    EXPECT_EQ(value_in(path_), value);
    EXPECT_EQ(std::filesystem::exists(older_), value > 1);
    if (value > 1) {
      EXPECT_EQ(value_in(older_), value - 1);
      EXPECT_EQ(soundness_of(older_, world()), Soundness::sound);
    }
    world().barrier();
  }
  save(4, false);
  world().barrier();
  EXPECT_FALSE(std::filesystem::exists(older_));
  EXPECT_EQ(soundness_of(path_, world()), Soundness::sound);
  EXPECT_EQ(soundness_of(older_, world()), Soundness::unreadable);
}

TEST_F(Save, TellsEveryChangedBit) {
  save(5, true);
  world().barrier();
  const std::uintmax_t n_bytes = std::filesystem::file_size(path_);
  world().barrier();
  for (const std::uintmax_t at : {n_bytes / 9, n_bytes / 2, n_bytes - 33, n_bytes - 3}) {
    flip(at);
    EXPECT_EQ(soundness_of(path_, world()), Soundness::damaged) << at;
    flip(at);
    EXPECT_EQ(soundness_of(path_, world()), Soundness::sound) << at;
  }
  on_root([&] { std::filesystem::resize_file(path_, n_bytes / 2); });
  world().barrier();
  EXPECT_EQ(soundness_of(path_, world()), Soundness::unreadable);
}

/// As results of earlier versions, and scans.
TEST_F(Save, IsSoundWithoutAChecksum) {
  File file = File::create(path_, world());
  file.write_doubles("x", {1}, {1});
  file.close();
  EXPECT_EQ(soundness_of(path_, world()), Soundness::sound);
}

}  // namespace
}  // namespace tessera::io
