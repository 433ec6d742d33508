// Files that cannot be used, of every kind: one line that names the file and what to do.

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"

#include "analysis/init.hpp"
#include "io/exports.hpp"
#include "support/scratch_folder.hpp"

namespace tessera::analysis {
namespace {

using ::testing::HasSubstr;

const io::Extents extents{9, 6, 6};

void write_hdf5(const std::string& path, const std::string& name) {
  io::File file = io::File::create(path);
  file.write_doubles(name, extents, std::vector<double>(324, 7.0));
  file.create_group("entry/instrument/detector");
  if (name.starts_with("emd")) file.set_attribute("emd", "emd_group_type", 1.0);
  file.close();
}

void write_text(const std::string& path, const std::string& words) {
  std::ofstream(path, std::ios::binary) << words;
}

std::string merlin_frames() {
  std::string frame = "MQ1,000001,00384,01,0006,0006,U16,1x1,01,";
  frame.resize(384 + 72, ' ');
  return frame + frame;
}

void cut(const std::string& path, std::int64_t n_bytes) {
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - n_bytes);
}

struct BadFile {
  std::string name;
  std::function<void(const std::string&)> write;
  std::string words;
};

void PrintTo(const BadFile& bad, std::ostream* out) {
  *out << bad.name;
}

std::function<void(const std::string&)> hdf5_cut(const std::string& name) {
  return [name](const std::string& path) {
    write_hdf5(path, name);
    cut(path, 100);
  };
}

const std::vector<BadFile> bad_files = {
    {"CxiCutShort", hdf5_cut("entry_1/data_1/data"), "is cut short"},
    {"DectrisCutShort", hdf5_cut("entry/data/data_000001"), "is cut short"},
    {"EmdCutShort", hdf5_cut("emd/data"), "is cut short"},
    {"PtypyCutShort", hdf5_cut("chunks/0/data"), "is cut short"},
    {"PtychodusCutShort", hdf5_cut("dp"), "is cut short"},
    {"Hdf5CutShort", hdf5_cut("patterns"), "is cut short"},
    {"NumpyArchiveCutShort",
     [](const std::string& path) {
       io::write_npz(path, {{"patterns", extents, std::vector<double>(324, 7.0)}});
       cut(path, 60);
     },
     "is cut short"},
    {"NumpyCutShort",
     [](const std::string& path) {
       std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (9, 6, 6), }";
       header.resize(118, ' ');
       std::string bytes("\x93NUMPY\x01\0\x76\0", 10);
       bytes.append(header).append("few values");
       write_text(path, bytes);
     },
     "is cut short"},
    {"MerlinCutInAFrame",
     [](const std::string& path) { write_text(path, merlin_frames().substr(0, 384 + 72 + 400)); },
     "is cut short"},
    {"MerlinCutInItsFirstFrame",
     [](const std::string& path) { write_text(path, merlin_frames().substr(0, 400)); },
     "no whole frame"},
    {"EmpadWithoutItsRawFile",
     [](const std::string& path) {
       write_text(path,
                  "<a><raw_file filename=\"nowhere.raw\"/><pix_x>3</pix_x><pix_y>3</pix_y></a>");
     },
     "nowhere.raw"},
    {"Words", [](const std::string& path) { write_text(path, "hello"); }, "not an HDF5 file"},
    {"Nothing", [](const std::string& path) { write_text(path, ""); }, "not an HDF5 file"},
    {"AFolder", [](const std::string& path) { std::filesystem::create_directory(path); },
     "is a folder"},
    {"NoFile", [](const std::string&) {}, "does not exist"},
    {"NoPatterns",
     [](const std::string& path) {
       io::File file = io::File::create(path);
       file.write_doubles("a", {3}, {1, 2, 3});
       file.close();
     },
     "holds no patterns"},
    {"OneImage",
     [](const std::string& path) {
       io::File file = io::File::create(path);
       file.write_doubles("entry_1/data_1/data", {2, 2}, {1, 2, 3, 4});
       file.close();
     },
     "shape (2, 2)"},
};

class BadFiles : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadFiles, AreNamedInOneLine) {
  const testing::ScratchFolder folder;
  const std::string path = folder.path("scan");
  GetParam().write(path);
  try {
    draft_deck(path, folder.path("scan.toml"));
    FAIL() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::bad_input);
    EXPECT_THAT(error.what(), HasSubstr(folder.path("")));
    EXPECT_THAT(error.what(), HasSubstr(GetParam().words));
  }
}

INSTANTIATE_TEST_SUITE_P(OfEveryKind, BadFiles, ::testing::ValuesIn(bad_files),
                         [](const auto& of) { return of.param.name; });

TEST(BadUnits, AreNamedAndTheNumberAskedFor) {
  const testing::ScratchFolder folder;
  const std::string path = folder.path("scan.cxi");
  const std::string distance = "entry_1/instrument_1/detector_1/distance";
  io::File file = io::File::create(path);
  file.write_doubles("entry_1/data_1/data", extents, std::vector<double>(324, 7.0));
  file.write_doubles(distance, {}, {2});
  file.set_attribute(distance, "units", "furlong");
  file.close();
  const Draft draft = draft_deck(path, folder.path("scan.toml"));
  EXPECT_THAT(draft.report, HasSubstr("its unit \"furlong\" is not known"));
  EXPECT_THAT(draft.deck, HasSubstr("# distance_m = "));
}

}  // namespace
}  // namespace tessera::analysis
