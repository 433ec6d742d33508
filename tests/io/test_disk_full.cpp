// A program of its own: HDF5 cannot be shut down after a close that failed, so it ends as the real
// one does, in MPI_Abort. ctest looks for its last line.

#include <fstream>

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

/// Writes more than the disk holds; returns what all ranks are told.
std::string overfill(const std::string& path) {
  const std::int64_t per_rank = 100000;
  const std::vector<double> values(static_cast<std::size_t>(per_rank), 1.0);
  const SmallDisk small(100000);
  try {
    File file = File::create(path, world());
    file.create_dataset("x", {per_rank * world().size()}, ElementType::f64);
    file.write_slab("x", {per_rank * world().rank()}, {per_rank}, ElementType::f64, values.data());
    file.close();
  } catch (const AgreedError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(DiskFull, WhileWritingIsAnErrorOnAllRanksAndTheOldResultStays) {
  {
    const TemporaryFolder folder;
    const std::string path = folder.file("result.h5");
    on_root([&] { std::ofstream(path) << "old result"; });
    {
      const AtomicFile result(path, 1, world());
      EXPECT_THAT(overfill(result.partial_path()), HasSubstr(result.partial_path()));
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
