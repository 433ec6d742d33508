// A program of its own: HDF5 cannot be shut down after a close that failed, so it ends as the real
// one does, in MPI_Abort. ctest looks for its last line.

#include <fstream>
#include <functional>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"
#include "tessera/io/hdf5.hpp"

#include "io/scan_file.hpp"
#include "io/small_disk.hpp"

namespace tessera::io {
namespace {

using ::testing::HasSubstr;
using namespace testing;
using tessera::testing::world;

std::string agreed_failure(const std::function<void()>& work) {
  try {
    work();
  } catch (const AgreedError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// Writes more than the disk holds; returns what all ranks are told.
std::string overfill(const std::string& path) {
  const std::int64_t per_rank = 100000;
  const std::vector<double> values(static_cast<std::size_t>(per_rank), 1.0);
  const SmallDisk small(100000);
  return agreed_failure([&] {
    File file = File::create(path, world());
    file.create_dataset("x", {per_rank * world().size()}, ElementType::f64);
    file.write_slab("x", {per_rank * world().rank()}, {per_rank}, ElementType::f64, values.data());
    file.close();
  });
}

/// The same with words that HDF5 keeps in memory until the file is closed.
std::string overfill_when_closing(const std::string& path) {
  File file = File::create(path, world());
  const SmallDisk small(100000);
  file.create_dataset("x", {100}, ElementType::f64);
  return agreed_failure([&] {
    for (int i = 0; i < 10; ++i)
      file.set_attribute("x", "words" + std::to_string(i), std::string(20000, 'a'));
    file.close();
  });
}

/// The message that all ranks get when the disk is full for `rank`, after the file was made.
std::string fill_up_for(int rank, rlim_t n_bytes, const std::string& path) {
  const std::int64_t per_rank = 100000;
  const std::vector<double> values(static_cast<std::size_t>(per_rank), 1.0);
  File file = File::create(path, world());
  file.create_dataset("x", {per_rank * world().size()}, ElementType::f64);
  file.write_slab("x", {0}, {0}, ElementType::f64, values.data());
  std::optional<SmallDisk> small;
  if (world().rank() == rank) small.emplace(n_bytes);
  return agreed_failure([&] {
    file.write_slab("x", {per_rank * world().rank()}, {per_rank}, ElementType::f64, values.data());
    file.set_attribute("x", "words", std::string(50000, 'a'));
    file.close();
  });
}

// Such a write must not pass for a good one, nor leave the other ranks waiting.
TEST(DiskFull, ForOneRankOnlyIsAnErrorOnAll) {
  const TemporaryFolder folder;
  const std::string path = folder.file("result.h5");
  const int last = world().size() - 1;
  EXPECT_THAT(fill_up_for(last, 1000, path), HasSubstr("\"x\" of \"" + path));
  EXPECT_THAT(fill_up_for(0, 1000, path), HasSubstr("\"x\" of \"" + path));
}

TEST(DiskFull, WhileWritingIsAnErrorOnAllRanksAndTheOldResultStays) {
  {
    const TemporaryFolder folder;
    const std::string path = folder.file("result.h5");
    on_root([&] { std::ofstream(path) << "old result"; });
    {
      const AtomicFile result(path, 1, world());
      EXPECT_THAT(overfill(result.partial_path()), HasSubstr(result.partial_path()));
      EXPECT_THAT(overfill_when_closing(result.partial_path()), HasSubstr(result.partial_path()));
      world().barrier();
    }
    world().barrier();
    std::string content;
    std::ifstream old_result(path);
    std::getline(old_result, content);
    EXPECT_EQ(content, "old result");
    EXPECT_FALSE(std::filesystem::exists(path + ".part"));
  }
  const bool failed = world().any(HasFailure());
  if (world().is_root() && !failed) std::puts("the old result is intact on all ranks");
  std::fflush(stdout);
  world().barrier();
  MPI_Abort(world().handle(), 1);
}

}  // namespace
}  // namespace tessera::io
