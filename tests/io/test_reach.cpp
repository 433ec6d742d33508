// Files whose values lie in other files: beside them, and where only data.follow_links lets them.

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/known_formats.hpp"

namespace tessera::io {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

const Sizes sizes{4, 5, 6};

/// The scan lies in "here"; what it refers to beside it, below it, and in "there".
class ReachTest : public ::testing::Test {
 protected:
  ReachTest() {
    on_root([&] {
      for (const char* name : {"here", "here/below", "there"}) fs::create_directory(path(name));
      for (const char* name : {"here/frames.h5", "here/below/frames.h5", "there/frames.h5"})
        add_dataset(path(name), "frames", {sizes, H5T_STD_U16LE},
                    std::vector<double>(size_of(sizes), 7));
    });
  }

  std::string path(const std::string& name) const { return folder_.file(name); }
  ScanSource source(Links links) const {
    ScanSource scan{scan_, "data", {}, {}, false};
    scan.links = links;
    return scan;
  }
  /// What is said of it; collective.
  std::string complaint() const {
    return agreed_error([&] { read_scan_info(source(Links::beside), world()); });
  }
  bool is_read(Links links) const {
    return read_scan_info(source(links), world()).n_positions == static_cast<int>(sizes[0]);
  }
  /// A dataset that is made with `plist`, which closes with it. Rank 0 alone.
  void add(const std::string& to, const std::string& name, hid_t plist) const {
    const hid_t file = fs::exists(to)
                           ? H5Fopen(to.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)
                           : H5Fcreate(to.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(3, sizes.data(), nullptr);
    H5Dclose(H5Dcreate2(file, name.c_str(), H5T_STD_U16LE, space, H5P_DEFAULT, plist, H5P_DEFAULT));
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(plist);
  }
  void add_virtual(const std::string& to, const std::string& name, const std::string& from,
                   const std::string& dataset) const {
    const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(3, sizes.data(), nullptr);
    H5Pset_virtual(plist, space, from.c_str(), dataset.c_str(), space);
    H5Sclose(space);
    add(to, name, plist);
  }
  void add_external(const std::string& name, const std::string& values) const {
    std::ofstream(values) << std::string(2 * size_of(sizes), 'x');
    const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(plist, values.c_str(), 0, H5F_UNLIMITED);
    add(scan_, name, plist);
  }
  void expect_refused() const {
    EXPECT_THAT(complaint(), AllOf(HasSubstr(scan_), HasSubstr("there/"),
                                   HasSubstr("data.follow_links = true")));
    EXPECT_TRUE(is_read(Links::anywhere));
  }

  const TemporaryFolder folder_;
  const std::string scan_ = folder_.file("here/scan.h5");
};

TEST_F(ReachTest, LinksToFilesBesideAndBelowAreFollowed) {
  for (const char* to : {"frames.h5", "below/frames.h5"}) {
    on_root([&] { write_link(scan_, "data", to, "frames"); });
    EXPECT_TRUE(is_read(Links::beside)) << to;
    world().barrier();
  }
}

TEST_F(ReachTest, LinksElsewhereAreNot) {
  on_root([&] { write_link(scan_, "data", "../there/frames.h5", "frames"); });
  expect_refused();
}

TEST_F(ReachTest, AFileThatIsCalledFromElsewhereHasItsOwnFolder) {
  on_root([&] {
    write_link(scan_, "data", "frames.h5", "frames");
    fs::create_symlink(scan_, path("there/called.h5"));
    fs::remove(path("there/frames.h5"));
  });
  ScanSource called = source(Links::beside);
  called.path = path("there/called.h5");
  EXPECT_EQ(read_scan_info(called, world()).n_positions, static_cast<int>(sizes[0]));
}

TEST_F(ReachTest, ExternalStorageElsewhereIsNotRead) {
  on_root([&] { add_external("data", path("there/any.bin")); });
  expect_refused();
}

TEST_F(ReachTest, SourcesElsewhereAreNotRead) {
  on_root([&] { add_virtual(scan_, "data", path("there/frames.h5"), "frames"); });
  expect_refused();
}

TEST_F(ReachTest, SourcesOfSourcesAreFollowed) {
  on_root([&] {
    add_external("raw", path("there/any.bin"));
    add_virtual(scan_, "data", ".", "raw");
  });
  expect_refused();
}

TEST_F(ReachTest, WhatIsCutShortIsNamed) {
  const std::string frames = path("here/frames.h5");
  on_root([&] {
    write_link(scan_, "linked", "frames.h5", "frames");
    add_virtual(scan_, "data", "frames.h5", "frames");
    add_virtual(scan_, "other", "frames.h5", "others");
  });
  EXPECT_TRUE(is_read(Links::beside));
  ScanSource scan = source(Links::beside);
  scan.patterns = "other";
  EXPECT_THAT(agreed_error([&] { read_scan_info(scan, world()); }),
              AllOf(HasSubstr("\"others\""), HasSubstr("no such dataset")));
  on_root([&] { fs::resize_file(frames, fs::file_size(frames) / 2); });
  EXPECT_THAT(complaint(), AllOf(HasSubstr("frames.h5"), HasSubstr("cut short")));
  scan.patterns = "linked";
  EXPECT_THAT(agreed_error([&] { read_scan_info(scan, world()); }),
              AllOf(HasSubstr("frames.h5"), HasSubstr("cut short")));
}

TEST_F(ReachTest, SourcesInACircleAreRefused) {
  on_root([&] {
    add_virtual(scan_, "data", "frames.h5", "circle");
    add_virtual(path("here/frames.h5"), "circle", "scan.h5", "data");
  });
  EXPECT_THAT(complaint(), AllOf(HasSubstr(scan_), HasSubstr("its own source")));
}

}  // namespace
}  // namespace tessera::io
