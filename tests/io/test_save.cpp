// A save that has changed since it was written is told from one that has not, on any ranks.

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tessera/io/save.hpp"

#include "io/background_save.hpp"
#include "io/scan_file.hpp"
#include "io/small_disk.hpp"

namespace tessera::io {
namespace {

using namespace testing;
using tessera::testing::world;

/// What the system says that this process has written, in how many calls: to pipes and sockets,
/// too.
class Written {
 public:
  void start() { before_ = so_far(); }
  void stop() {
    const auto now = so_far();
    bytes = now[0] - before_[0];
    calls = now[1] - before_[1];
  }
  double bytes = 0;
  double calls = 0;

 private:
  static std::array<double, 2> so_far() {
    std::ifstream io("/proc/self/io");
    std::array<double, 2> read{};
    std::string name;
    for (double value = 0; io >> name >> value;) {
      if (name == "wchar:") read[0] = value;
      if (name == "syscw:") read[1] = value;
    }
    return read;
  }
  std::array<double, 2> before_{};
};

class Save : public ::testing::Test {
 protected:
  /// 3 MB: blocks for several ranks, and a rest. Rows of the ranks in turn, in two halves each.
  void save(double value, bool keeps_older, int writers_per_host = 0) const {
    CopyMemory memory;
    BackgroundSave save(path_, 4 << 20, keeps_older, world(), memory);
    StagedFile& file = save.file();
    file.create_dataset("x", {n_rows, n_columns}, ElementType::f64);
    std::vector<double> half(n_columns / 2);
    for (std::int64_t row = world().rank(); row < n_rows; row += world().size())
      for (const std::int64_t begin : {std::int64_t{0}, n_columns / 2}) {
        for (std::int64_t i = 0; i < n_columns / 2; ++i)
          half[i] = value + static_cast<double>(row * n_columns + begin + i);
        file.write_slab("x", {row, begin}, {1, n_columns / 2}, half.data());
      }
    file.write_doubles("y", {1}, {value});
    file.make_structure();
    if (writers_per_host > 0) file.hand_to_writers(writers_per_host);
    written_.start();
    save.start();
    save.finish();
    written_.stop();
  }
  static double value_in(const std::string& path) { return File::open(path).read_doubles("x")[0]; }
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
  static constexpr std::int64_t n_rows = 100;
  static constexpr std::int64_t n_columns = 4000;
  const TemporaryFolder folder_;
  const std::string path_ = folder_.file("result.h5");
  const std::string older_ = older_save(path_);
  mutable Written written_;
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

/// The first touch of new memory takes longer than a copy.
TEST(CopyMemory, IsThereBeforeTheFirstCopyAndStaysForTheNext) {
  constexpr std::size_t MB = 1 << 20;
  CopyMemory memory;
  memory.prepare({3 * MB, 1, 5 * MB});
  const auto faults = [] {
    rusage used{};
    getrusage(RUSAGE_THREAD, &used);
    return used.ru_minflt;
  };
  FreshBytes large = memory.take(4 * MB);
  EXPECT_EQ(large.size(), 4 * MB);
  const auto before = faults();
  std::memset(large.data(), 1, large.size());
  EXPECT_LE(faults() - before, 8);  // of 1024 pages of 4 kB
  const char* const place = large.data();
  memory.give_back(std::move(large));
  const FreshBytes small = memory.take(3 * MB);
  const FreshBytes again = memory.take(5 * MB);
  EXPECT_EQ(again.data(), place);
  EXPECT_NE(small.data(), place);
  EXPECT_EQ(memory.take(6 * MB).size(), 6 * MB);
}

TEST_F(Save, HoldsWhatAllRanksHaveWritten) {
  save(0.5, false);
  world().barrier();
  const std::vector<double> x = File::open(path_).read_doubles("x");
  ASSERT_EQ(std::ssize(x), n_rows * n_columns);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], 0.5 + static_cast<double>(i));
  EXPECT_EQ(File::open(path_).read_doubles("y"), std::vector<double>{0.5});
}

/// The others write nothing, and those the whole in few calls, though rows came in halves from
/// ranks in turn.
TEST_F(Save, IsWrittenByAsManyRanksOfAHostAsMayWrite) {
  for (const int may : {1, 2, 8}) {
    save(2.5, false, may);
    world().barrier();
    const std::vector<double> x = File::open(path_).read_doubles("x");
    ASSERT_EQ(std::ssize(x), n_rows * n_columns);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], 2.5 + static_cast<double>(i));
    EXPECT_EQ(soundness_of(path_, world()), Soundness::sound);
    constexpr double n_bytes = n_rows * n_columns * sizeof(double);
    const bool wrote = written_.bytes > 0.1 * n_bytes;
    std::array<double, 3> sum{wrote ? 1. : 0., written_.bytes, wrote ? written_.calls : 0.};
    world().sum(sum);
    EXPECT_EQ(sum[0], std::min(may, world().size()));
    EXPECT_NEAR(sum[1], n_bytes, 0.01 * n_bytes);
    if (may < world().size()) {
      EXPECT_LT(sum[2], 40);  // of 200 halves
    }
    world().barrier();
  }
}

/// On one rank only, after its room was found: an error on all, and the save before stays.
TEST_F(Save, ThatFailsLeavesTheOneBefore) {
  save(1, true);
  world().barrier();
  for (const int rank : {0, world().size() - 1}) {
    const std::string message = agreed_error([&] {
      CopyMemory memory;
      BackgroundSave save(path_, 1 << 20, true, world(), memory);
      save.file().create_dataset("x", {world().size(), 1 << 16}, ElementType::f64);
      const std::vector<double> row(1 << 16, 2.0);
      save.file().write_slab("x", {world().rank(), 0}, {1, 1 << 16}, row.data());
      save.file().make_structure();
      if (rank == 0) save.file().hand_to_writers(1);  // which is rank 0
      std::optional<SmallDisk> small;
      if (world().rank() == rank) small.emplace(1 << 12);
      save.start();
      save.finish();
    });
    EXPECT_THAT(message, ::testing::HasSubstr(path_ + ".part\" cannot be written to its end"));
    EXPECT_EQ(value_in(path_), 1);
    world().barrier();
    EXPECT_FALSE(std::filesystem::exists(path_ + ".part"));
    world().barrier();
  }
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
