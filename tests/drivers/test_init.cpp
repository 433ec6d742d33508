// From files as others write them to decks, and to what plain HDF5 gives, bit for bit.

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/linked_file.hpp"
#include "launch.hpp"
#include "scan_file.hpp"
#include "support/written_values.hpp"

namespace tessera::testing::init_tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// How a CXI file differs from a right one.
struct Trap {
  double energy = 8000 * 1.602176634e-19;
  std::string energy_unit = {};
  double distance_m = 1.8;
  double positions_per_metre = 1;
  double mask_of_good = 0;
  int columns_before = 0;  ///< of empty pixels, which put the beam off the middle
  bool is_cornered = false;
};

std::vector<double> frames(const SmallScan& scan, const Trap& trap) {
  const int width = 16 + trap.columns_before;
  std::vector<double> values(static_cast<std::size_t>(16 * 16 * width));
  for (int p = 0; p < 16; ++p)
    for (int y = 0; y < 16; ++y)
      for (int x = 0; x < 16; ++x) {
        const int row = trap.is_cornered ? (y + 8) % 16 : y;
        const int column = trap.is_cornered ? (x + 8) % 16 : x + trap.columns_before;
        values[static_cast<std::size_t>((p * 16 + row) * width + column)] =
            scan.patterns[static_cast<std::size_t>((p * 16 + y) * 16 + x)];
      }
  return values;
}

/// The small scan, as CXI has it.
void write_cxi(const std::string& path, const SmallScan& scan, const Trap& trap = {}) {
  const int width = 16 + trap.columns_before;
  io::File file = io::File::create(path);
  write_values(file, "entry_1/data_1/data", {16, 16, width}, io::ElementType::f32,
               frames(scan, trap));
  std::vector<double> translation;
  for (std::size_t p = 0; p < 16; ++p)
    translation.insert(translation.end(), {trap.positions_per_metre * scan.positions_m[2 * p + 1],
                                           trap.positions_per_metre * scan.positions_m[2 * p], 0});
  write_values(file, "entry_1/data_1/translation", {16, 3}, io::ElementType::f64, translation);
  std::vector<double> mask(static_cast<std::size_t>(16 * width), trap.mask_of_good);
  mask[5] = 1 - trap.mask_of_good;
  write_values(file, "entry_1/instrument_1/detector_1/mask", {16, width}, io::ElementType::u32,
               mask);
  const std::string energy = "entry_1/instrument_1/source_1/energy";
  file.write_doubles(energy, {1}, {trap.energy});
  if (!trap.energy_unit.empty()) file.set_attribute(energy, "units", trap.energy_unit);
  file.write_doubles("entry_1/instrument_1/detector_1/distance", {1}, {trap.distance_m});
  file.write_doubles("entry_1/instrument_1/detector_1/x_pixel_size", {1}, {172e-6});
  file.close();
}

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Init : public ::testing::Test {
 protected:
  /// What init prints of a trap.
  std::string said(const Trap& trap) {
    write_cxi(cxi_, SmallScan(), trap);
    std::filesystem::remove(deck_);
    const Outcome outcome = run_tessera({1, {"init", cxi_, "-o", deck_}});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }
  /// Object and probe of a short run of a deck.
  std::vector<double> reconstructed(const std::string& deck,
                                    const std::vector<std::string>& overrides) {
    std::vector<std::string> words{"reconstruct",
                                   deck,
                                   "run.share_gpu=true",
                                   "run.deterministic=true",
                                   "probe.initial=mean_pattern",
                                   "probe.n_modes=1",
                                   "solver.method=rpie",
                                   "solver.epochs=2",
                                   "solver.batch_size=8",
                                   "refine.positions_from_epoch=-1",
                                   "refine.intensity_from_epoch=-1",
                                   "output.file=" + folder_.result()};
    words.insert(words.end(), overrides.begin(), overrides.end());
    const Outcome outcome = run_tessera({2, words});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<double> values;
    const io::File file = io::File::open(folder_.result());
    for (const char* name : {"object", "probe"})
      for (const std::complex<double> value : file.read_waves(name))
        values.insert(values.end(), {value.real(), value.imag()});
    return values;
  }

  const ScanFolder folder_;
  const std::string cxi_ = folder_.path("scan.cxi");
  const std::string deck_ = folder_.path("scan.toml");
};

TEST_F(Init, TheDeckOfACxiFileGivesWhatPlainHdf5Gives) {
  EXPECT_THAT(said({}), AllOf(HasSubstr("CXI file"), HasSubstr("16 patterns of 16 x 16"),
                              HasSubstr(deck_), Not(HasSubstr("warning"))));
  EXPECT_THAT(
      content(deck_),
      AllOf(HasSubstr("file = \"scan.cxi\""), HasSubstr("energy_eV = 8000 "),
            HasSubstr("distance_m = 1.8 "), HasSubstr("positions_columns = [1, 0]"),
            HasSubstr("positions_from_epoch = 10 "), HasSubstr("intensity_from_epoch = 10 "),
            HasSubstr("bad_pixels = \"entry_1/instrument_1/detector_1/mask\"")));
  SmallScan plain;
  plain.valid_pixels[5] = 0;
  plain.write(folder_.scan());
  const std::vector<double> expected = reconstructed(folder_.deck(), {});
  EXPECT_EQ(reconstructed(deck_, {}), expected);
}

TEST_F(Init, TrapsAreNamedAndPutRight) {
  SmallScan plain;
  plain.valid_pixels[5] = 0;
  plain.write(folder_.scan());
  const std::vector<double> expected = reconstructed(folder_.deck(), {});
  const auto expect = [&](const Trap& trap, const std::string& warning) {
    EXPECT_THAT(said(trap), HasSubstr(warning));
    const std::vector<double> found = reconstructed(deck_, {});
    ASSERT_EQ(found.size(), expected.size()) << warning;
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_NEAR(found[i], expected[i], 1e-3 * std::abs(expected[i]) + 1e-2) << warning;
  };
  expect({.energy = 8000}, "taken as eV");
  expect({.energy = 8, .energy_unit = "keV"}, "16 patterns");
  expect({.distance_m = 1800}, "taken as mm");
  expect({.positions_per_metre = 1e6}, "in units of 1e-06 m");
  expect({.mask_of_good = 1}, "other polarity");
}

TEST_F(Init, ABeamThatIsOffIsCentred) {
  EXPECT_THAT(said({.columns_before = 6}),
              AllOf(HasSubstr("3.0 columns off the middle"), HasSubstr("data.crop")));
  EXPECT_THAT(content(deck_),
              AllOf(HasSubstr("centre_px = [8, 14]"), HasSubstr("crop = [16, 16]")));
  EXPECT_THAT(said({.is_cornered = true}), HasSubstr("data.zero_frequency = \"corner\""));
  EXPECT_THAT(content(deck_), HasSubstr("zero_frequency = \"corner\""));
}

TEST_F(Init, WhatIsMissingIsALineToFillIn) {
  const Outcome outcome = run_tessera({2, {"init", folder_.scan(), "-o", deck_}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("fill in     experiment.energy_eV"));
  EXPECT_THAT(content(deck_), HasSubstr("# energy_eV = "));
  expect_error(run_tessera({2, {"reconstruct", deck_}}), 2, {"experiment.energy_eV"});
}

TEST_F(Init, WhatLiesElsewhereIsReadWhereThePersonSaysSo) {
  write_cxi(cxi_, SmallScan());
  std::filesystem::create_directory(folder_.path("here"));
  const std::string linked = folder_.path("here/linked.cxi");
  const std::string converted = folder_.path("converted.cxi");
  write_link(linked, "entry_1", cxi_, "entry_1");
  for (std::vector<std::string> words : {std::vector<std::string>{"init", linked, "-o", deck_},
                                         {"look", linked},
                                         {"convert", linked, "-o", converted}}) {
    expect_error(run_tessera({1, words}), 2, {linked, cxi_, "--follow-links"});
    words.emplace_back("--follow-links");
    EXPECT_EQ(run_tessera({1, words}).exit_code, 0) << words.front();
  }
  EXPECT_THAT(content(deck_), HasSubstr("follow_links = true"));
}

TEST_F(Init, WritesOverNothingAndRefusesWhatItDoesNotKnow) {
  std::ofstream(deck_) << "mine";
  expect_error(run_tessera({2, {"init", folder_.scan(), "-o", deck_}}), 2, {deck_, "-o"});
  EXPECT_EQ(content(deck_), "mine");
  const std::string unknown = folder_.path("scan.dm4");
  std::ofstream(unknown) << "something else";
  const std::string other = folder_.path("other.toml");
  expect_error(run_tessera({2, {"init", unknown, "-o", other}}), 2,
               {unknown, "not an HDF5 file", "something else"});
  EXPECT_FALSE(std::filesystem::exists(other));
}

}  // namespace
}  // namespace tessera::testing::init_tests
