// Each way in which data or deck can be wrong: one line that names it, exit code 2, nothing left
// behind, on one rank and on four.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch.hpp"
#include "scan_file.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

struct BadInput {
  std::string name;
  std::vector<std::string> error_names;
  std::vector<std::string> overrides = {};
  std::function<void(SmallScan&)> spoil_scan = {};
  std::function<void(const ScanFolder&)> spoil_files = {};
  std::vector<std::string> other_files = {};  ///< that stay
};

void PrintTo(const BadInput& bad, std::ostream* out) {
  *out << bad.name;
}

std::vector<BadInput> bad_files() {
  const auto overwrite = [](const ScanFolder& folder) {
    std::ofstream(folder.scan()) << "not what its name says";
  };
  const auto cut = [](const ScanFolder& folder) {
    std::filesystem::resize_file(folder.scan(), std::filesystem::file_size(folder.scan()) / 2);
  };
  return {
      {"MissingFile", {"data.file", "nowhere.h5", "does not exist"}, {"data.file=nowhere.h5"}},
      {"NotHdf5", {"data.file", "scan.h5", "not an HDF5 file"}, {}, {}, overwrite},
      {"CutShort", {"data.file", "scan.h5", "cut short"}, {}, {}, cut},
      {"MissingPatterns", {"data.patterns = \"frames\"", "scan.h5"}, {"data.patterns=frames"}},
      {"MissingPositions", {"data.positions = \"where\""}, {"data.positions=where"}},
      {"MissingMask", {"data.valid_pixels = \"mask\""}, {"data.valid_pixels=mask"}},
      {"MissingProbe",
       {"no dataset \"guess\"", "scan.h5"},
       {"probe.initial=dataset", "probe.dataset=guess"}},
      {"NameInAnotherCase",
       {"\"Patterns\"", "did you mean \"patterns\""},
       {"data.patterns=Patterns"}},
      {"MissingResumeFile", {"nowhere.h5", "does not exist"}, {"run.resume=nowhere.h5"}},
      {"MissingObjectFile",
       {"nowhere.h5", "does not exist"},
       {"object.initial=file", "object.file=nowhere.h5"}},
  };
}

std::vector<BadInput> bad_shapes() {
  return {
      {"PatternsWithTwoAxes",
       {"data.patterns", "(16, 256)", "(position, y, x)"},
       {},
       [](SmallScan& scan) { scan.pattern_extents = {16, 256}; }},
      {"PatternsNotSquare",
       {"8 x 32", "square"},
       {"data.valid_pixels="},
       [](SmallScan& scan) { scan.pattern_extents = {16, 8, 32}; }},
      {"PositionsWithFourColumns",
       {"data.positions", "(8, 4)", "(position, 2)"},
       {},
       [](SmallScan& scan) { scan.position_extents = {8, 4}; }},
      {"TooFewPositions",
       {"data.positions", "15 positions for 16 patterns"},
       {},
       [](SmallScan& scan) { scan.position_extents = {15, 2}; }},
      {"MaskOfAnotherShape",
       {"data.valid_pixels", "(8, 32)", "(16, 16)"},
       {},
       [](SmallScan& scan) { scan.mask_extents = {8, 32}; }},
      {"ProbeLargerThanTheDetector",
       {"probe_guess", "32 x 32", "16 x 16"},
       {"probe.initial=dataset", "probe.dataset=probe_guess"},
       [](SmallScan& scan) { scan.probe_extents = {1, 32, 32}; }},
      {"ApertureWiderThanTheDetector",
       {"probe.semi_angle_rad", "0.2 rad"},
       {"probe.semi_angle_rad=0.2"}},
      {"DefocusWiderThanTheWindow", {"defocus", "16 x 16"}, {"probe.defocus_m=0.1"}},
  };
}

std::vector<BadInput> bad_values() {
  const auto count = [](double value) {
    return [value](SmallScan& scan) { scan.count(9, 4, 1) = value; };
  };
  const auto position = [](double value) {
    return [value](SmallScan& scan) { scan.positions_m[2 * 7 + 1] = value; };
  };
  const auto fill = [](std::vector<double> SmallScan::* field, double value) {
    return [=](SmallScan& scan) { (scan.*field).assign((scan.*field).size(), value); };
  };
  const auto masked_counts = [](SmallScan& scan) {
    scan.valid_pixels.assign(scan.valid_pixels.size(), 0.0);
    scan.valid_pixels[0] = 1;
    for (int p = 0; p < 16; ++p) scan.count(p, 0, 0) = 0;
  };
  const std::string bad_pixel = "at pixel (4, 1)";
  return {
      {"NanCount", {"data.patterns", "position 9", "nan", bad_pixel}, {}, count(NAN)},
      {"InfiniteCount", {"data.patterns", "position 9", "inf", bad_pixel}, {}, count(INFINITY)},
      {"NegativeCount", {"data.patterns", "position 9", "-3", bad_pixel}, {}, count(-3)},
      {"NegativeIntegerCount",
       {"data.patterns", "position 9", "-3", bad_pixel},
       {},
       [](SmallScan& scan) {
         scan.pattern_type = io::ElementType::i64;
         scan.count(9, 4, 1) = -3;
       }},
      {"NanPosition", {"data.positions", "position 7", "nan"}, {}, position(NAN)},
      {"InfinitePosition", {"data.positions", "position 7", "inf"}, {}, position(INFINITY)},
      {"PositionsInNanometres", {"data.positions", "metres"}, {}, position(1200.0)},
      {"PositionsAllEqual",
       {"data.positions", "all 16 positions are", "never written"},
       {},
       fill(&SmallScan::positions_m, 1e-6)},
      {"WindowsBeyondMemory",
       {"data.pad_to", "100000 x 100000", "at most 16384"},
       {"data.pad_to=[100000,100000]"}},
      {"NothingButZeros", {"data.patterns", "zeros"}, {}, fill(&SmallScan::patterns, 0)},
      {"MaskOfNothing", {"data.valid_pixels", "no pixel"}, {}, fill(&SmallScan::valid_pixels, 0)},
      {"MaskThatLeavesNoCounts", {"data.patterns", "zeros", "valid"}, {}, masked_counts},
  };
}

BadInput left_out(const std::string& name, const std::string& section, const std::string& key) {
  return {
      name, {section + key}, {}, {}, [key](const ScanFolder& folder) { folder.leave_out(key); }};
}

std::vector<BadInput> bad_decks() {
  const auto append = [](const std::string& text) {
    return [text](const ScanFolder& folder) { folder.write_deck(small_deck() + text); };
  };
  const std::string energy = "experiment.energy_eV";
  const std::string pixel = "experiment.detector_pixel_m";
  return {
      left_out("NoEnergy", "experiment.", "energy_eV"),
      {"ZeroEnergy", {energy, "50 to"}, {energy + "=0"}},
      {"NegativeEnergy", {energy, "50 to"}, {energy + "=-8000"}},
      {"EnergyInKeV", {energy + " = 8.8", "did you give keV?"}, {energy + "=8.8"}},
      {"NanEnergy", {energy, "not finite"}, {energy + "=nan"}},
      left_out("NoDetectorPixel", "experiment.", "detector_pixel_m"),
      {"ZeroDetectorPixel", {pixel, "1e-7 to"}, {pixel + "=0"}},
      {"NegativeDetectorPixel", {pixel, "1e-7 to"}, {pixel + "=-75e-6"}},
      {"DetectorPixelInMicrometres", {pixel, "did you give micrometres"}, {pixel + "=75"}},
      left_out("NoDistance", "experiment.", "distance_m"),
      {"UnknownKey", {"solver.epoch", "did you mean solver.epochs"}, {"solver.epoch=3"}},
      {"UnknownKeyInTheDeck",
       {"deck.toml:16", "output.fil", "did you mean output.file"},
       {},
       {},
       append("fil = \"x\"\n")},
      {"UnknownSection",
       {"deck.toml:16", "solvr", "solver"},
       {},
       {},
       append("[solvr]\nepochs = 3\n")},
      {"NotToml", {"deck.toml:16", "not valid TOML"}, {}, {}, append("a b c\n")},
      {"WrongType", {"solver.epochs", "many", "wrong type"}, {"solver.epochs=many"}},
      {"OutOfRange", {"solver.object_step", "7", "0 to 2"}, {"solver.object_step=7"}},
      {"UnknownChoice", {"solver.method", "magic", "rpie"}, {"solver.method=magic"}},
      {"NotAnOverride", {"solver.epochs", "key=value"}, {"solver.epochs"}},
      {"TilesThatDoNotMatchTheRanks",
       {"decomposition.tiles = [3, 2]", "6 tiles", "\"auto\""},
       {"decomposition.tiles=[3,2]"}},
  };
}

/// What was measured is not written over, though no deck names it.
BadInput over_other_data(const std::string& file, const std::string& content) {
  return {"OutputOver" + content,
          {"output.file", file, "is there already"},
          {"output.file=" + file},
          {},
          [=](const ScanFolder& folder) {
            if (file.ends_with(".h5"))
              SmallScan().write(folder.path(file));
            else
              std::ofstream(folder.path(file)) << "words";
          },
          {file}};
}

std::vector<BadInput> bad_outputs() {
  // Root may write everywhere but here.
  return {
      {"OutputFolderMissing",
       {"nowhere/result.h5", "cannot be written", "no folder"},
       {"output.file=nowhere/result.h5"}},
      {"OutputFolderNotWritable",
       {"/proc/result.h5", "cannot be written"},
       {"output.file=/proc/result.h5"}},
      {"OutputFolderIsAFile",
       {"scan.h5/result.h5", "cannot be written"},
       {"output.file=scan.h5/result.h5"}},
      {"OutputIsTheScan",
       {"output.file", "scan.h5", "data.file", "another file"},
       {"output.file=./scan.h5"}},
      {"OutputIsTheDeck", {"output.file", "over the deck", "deck.toml"}, {"output.file=deck.toml"}},
      {"OutputIsTheStartProbe",
       {"output.file", "over probe.file"},
       {"output.file=result.h5", "probe.initial=file", "probe.file=result.h5"}},
      over_other_data("other_scan.h5", "AnotherScan"),
      over_other_data("notes.txt", "Words"),
      {"SummaryIsTheScan", {"--summary", "over data.file"}, {"--summary", "scan.h5"}},
      {"SummaryIsTheDeck", {"--summary", "over the deck"}, {"--summary", "deck.toml"}},
      {"SummaryFolderMissing", {"nowhere/s.json", "--summary"}, {"--summary", "nowhere/s.json"}},
      {"ReportIsTheScan", {"output.report", "over data.file"}, {"output.report=scan.h5"}},
      {"ReportFolderMissing",
       {"nowhere/r.html", "output.report"},
       {"output.report=nowhere/r.html"}},
  };
}

std::vector<BadInput> all_bad_inputs() {
  std::vector<BadInput> all;
  for (const auto& some : {bad_files(), bad_shapes(), bad_values(), bad_decks(), bad_outputs()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

class Reconstruct : public ::testing::TestWithParam<std::tuple<BadInput, int>> {};

TEST_P(Reconstruct, RefusesBadInput) {
  const auto& [bad, n_ranks] = GetParam();
  SmallScan scan;
  if (bad.spoil_scan) bad.spoil_scan(scan);
  const ScanFolder folder(scan);
  if (bad.spoil_files) bad.spoil_files(folder);
  const Outcome outcome =
      run_tessera({n_ranks, folder.reconstruct(bad.overrides), folder.path("")});
  expect_error(outcome, 2, bad.error_names);
  std::vector<std::string> expected{"deck.toml", "scan.h5"};
  expected.insert(expected.end(), bad.other_files.begin(), bad.other_files.end());
  std::ranges::sort(expected);
  EXPECT_EQ(folder.files(), expected);
}

INSTANTIATE_TEST_SUITE_P(BadInput, Reconstruct,
                         ::testing::Combine(::testing::ValuesIn(all_bad_inputs()),
                                            ::testing::Values(1, 4)),
                         [](const auto& tested) {
                           return std::get<0>(tested.param).name + "_" +
                                  std::to_string(std::get<1>(tested.param));
                         });

class OnRanks : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(BadInput, OnRanks, ::testing::Values(1, 4));

TEST_P(OnRanks, TheGoodScanIsReconstructed) {
  const ScanFolder folder;
  const Outcome outcome = run_tessera({GetParam(), folder.reconstruct()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(folder.files(), ::testing::ElementsAre("deck.toml", "result.h5", "scan.h5"));
}

TEST_P(OnRanks, PatternsWithoutCountsAreLeftOutWithAWarning) {
  SmallScan scan;
  for (const int position : {3, 11})
    for (int y = 0; y < 16; ++y)
      for (int x = 0; x < 16; ++x) scan.count(position, y, x) = 0;
  const ScanFolder folder(scan);
  const Outcome outcome = run_tessera({GetParam(), folder.reconstruct()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("tessera: warning: 2 of 16 patterns hold no counts"));
}

TEST_P(OnRanks, TheDeckIsMissing) {
  const Outcome outcome = run_tessera({GetParam(), {"reconstruct", "nowhere.toml"}});
  expect_error(outcome, 2, {"nowhere.toml", "does not exist"});
}

TEST_P(OnRanks, TheCommandLineIsIncomplete) {
  expect_error(run_tessera({GetParam(), {"reconstruct"}}), 2, {"deck is required", "--help"});
}

TEST_P(OnRanks, NothingToInspectOrCompare) {
  const ScanFolder folder;
  const std::string missing = folder.path("nowhere.h5");
  expect_error(run_tessera({GetParam(), {"inspect", missing}}), 2, {missing, "does not exist"});
  expect_error(run_tessera({GetParam(), {"compare", missing, missing}}), 2,
               {missing, "does not exist"});
}

TEST_P(OnRanks, ASimulationThatCannotBeWritten) {
  const ScanFolder folder;
  const std::vector<std::string> words{"simulate", folder.deck(), "simulation.step_m=1e-7",
                                       "data.file=nowhere/scan.h5"};
  expect_error(run_tessera({GetParam(), words}), 2, {"nowhere/scan.h5", "no folder"});
}

TEST_P(OnRanks, ASimulationOverItsDeckIsRefused) {
  const ScanFolder folder;
  const std::vector<std::string> words{"simulate", folder.deck(), "simulation.step_m=1e-7",
                                       "data.file=" + folder.deck()};
  expect_error(run_tessera({GetParam(), words}), 2, {"data.file", "over the deck"});
  EXPECT_EQ(run_tessera({1, folder.reconstruct()}).exit_code, 0) << "the deck was changed";
}

TEST_P(OnRanks, ASimulationOverAMeasuredScanIsRefused) {
  const ScanFolder folder;
  const std::vector<std::string> words{"simulate", folder.deck(), "simulation.step_m=1e-7",
                                       "data.file=" + folder.scan()};
  expect_error(run_tessera({GetParam(), words}), 2, {"data.file", "scan.h5", "is there already"});
  EXPECT_EQ(io::File::open(folder.scan()).read_doubles("positions_m").size(), 32u);
}

TEST_P(OnRanks, WhatCannotBeComparedIsNamed) {
  const ScanFolder folder;
  ASSERT_EQ(run_tessera({1, folder.reconstruct()}).exit_code, 0);
  const std::string other = folder.path("other.h5");
  ASSERT_EQ(run_tessera({1, folder.reconstruct({"data.pad_to=[32,32]", "output.file=" + other})})
                .exit_code,
            0);
  expect_error(run_tessera({GetParam(), {"compare", folder.result(), other}}), 2,
               {"result.h5", "other.h5", "in the first file"});
}

/// Open MPI's file functions have names of 256 characters.
TEST_P(OnRanks, PathsMayBeLong) {
  const ScanFolder folder;
  const std::string result = folder.path(std::string(230, 'a'));
  const std::string output = "output.file=" + result;
  ASSERT_EQ(run_tessera({GetParam(), folder.reconstruct({output})}).exit_code, 0);
  const Outcome resumed = run_tessera({GetParam(), {"resume", result, "solver.epochs=5"}});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(io::File::open(result).read_doubles("history/error").size(), 5u);
}

TEST_P(OnRanks, ARunGoesOnIntoItsOwnResult) {
  const ScanFolder folder;
  ASSERT_EQ(run_tessera({GetParam(), folder.reconstruct()}).exit_code, 0);
  const Outcome outcome = run_tessera(
      {GetParam(), folder.reconstruct({"run.resume=" + folder.result(), "solver.epochs=5"})});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(io::File::open(folder.result()).read_doubles("history/error").size(), 5u);
}

}  // namespace
}  // namespace tessera::testing
