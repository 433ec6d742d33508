#include <gmock/gmock.h>

#include "deck/sample_decks.hpp"

namespace tessera::deck {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Parse, SectionsReadAsInTheReference) {
  const Deck deck = parsed(R"(
title = "Siemens star"
[data]
file = "star.h5"
[experiment]
energy_eV = 8800.0
distance_m = 1.96
detector_pixel_m = 75e-6
[solver]
epochs = 60
[decomposition]
tiles = "auto"
)");
  EXPECT_EQ(deck.title, "Siemens star");
  EXPECT_EQ(deck.data.file, "star.h5");
  ASSERT_EQ(deck.solvers.size(), 1u);
  EXPECT_EQ(deck.solvers[0].epochs, 60);
  EXPECT_TRUE(deck.decomposition.tiles.empty());
  EXPECT_EQ(deck.probe.n_modes, 1);
}

TEST(Parse, SyntaxErrorsNameFileLineAndColumn) {
  EXPECT_THAT(parse_complaint("title = \"a\"\n[solver]\nepochs = = 3\n"),
              AllOf(StartsWith("deck.toml:3:10: "), HasSubstr("TOML")));
}

TEST(Parse, UnknownNamesAreRefusedWithTheNearest) {
  EXPECT_THAT(parse_complaint("\n[solver]\nepoch = 3\n"),
              AllOf(StartsWith("deck.toml:3: "), HasSubstr("unknown key solver.epoch;"),
                    HasSubstr("did you mean solver.epochs?")));
  EXPECT_THAT(parse_complaint("[solvr]\nepochs = 3\n"),
              AllOf(StartsWith("deck.toml:1: "), HasSubstr("unknown section [solvr]"),
                    HasSubstr("did you mean [solver]?")));
  EXPECT_THAT(parse_complaint("[data]\nenergy_eV = 8800\n"),
              HasSubstr("did you mean experiment.energy_eV?"));
  EXPECT_THAT(parse_complaint("epochs = 3\n"), HasSubstr("did you mean solver.epochs?"));
  EXPECT_THAT(parse_complaint("[object]\nqqqqqqqqqqqqqq = 3\n"),
              HasSubstr("known here: initial, file"));
  EXPECT_THAT(parse_complaint("[wwwwwwwww]\nx = 3\n"), HasSubstr("sections are data, experiment,"));
  EXPECT_THAT(parse_complaint(xray_deck, {"solver.epoch=3"}),
              AllOf(StartsWith("override 'solver.epoch=3': "), HasSubstr("solver.epochs?")));
}

TEST(Parse, SectionsMustBeTables) {
  EXPECT_THAT(parse_complaint("solver = 3\n"), HasSubstr("solver is a section: write [solver]"));
  EXPECT_THAT(parse_complaint("[[object]]\nn_modes = 1\n"), HasSubstr("object is a section"));
  EXPECT_THAT(parse_complaint("solver = [3, 4]\n"), HasSubstr("solver is a section"));
  EXPECT_THAT(parse_complaint("solver = []\n"), HasSubstr("solver is a section"));
  EXPECT_THAT(parse_complaint("[solver.epochs]\nx = 3\n"),
              HasSubstr("solver.epochs = {...} has the wrong type"));
  EXPECT_THAT(parse_complaint(xray_deck, {"solver={epochs=3}"}),
              HasSubstr("solver is a section: name one of its keys"));
}

TEST(Parse, AWholeNumberMayStandForANumberNotTheOtherWayRound) {
  const Deck deck = parsed(xray_deck + "solver.object_step = 2\n");
  EXPECT_EQ(std::get<settings::Pie>(deck.solvers[0].own).steps.object, 2.0);
  EXPECT_THAT(parse_complaint("[solver]\nepochs = 3.0\n"),
              AllOf(StartsWith("deck.toml:2: "), HasSubstr("solver.epochs = 3.0"),
                    HasSubstr("wrong type"), HasSubstr("whole number, 1 to 1e6")));
}

TEST(Parse, WrongTypesAreRefused) {
  for (const std::string wrong :
       {"solver.epochs = true", "solver.epochs = \"3\"", "solver.epochs = [3]",
        "solver.epochs = 1979-05-27", "data.subpixel = 1", "data.subpixel = \"true\"",
        "solver.object_step = \"1\"", "solver.object_step = 07:32:00", "data.file = 3",
        "data.positions = 3", "data.positions = false", "title = 1979-05-27",
        "decomposition.tiles = 4", "decomposition.tiles = \"automatic\"",
        "decomposition.tiles = [2.0, 2.0]", "decomposition.tiles = [[1, 2], [3, 4]]",
        "experiment.energy_eV = \"8800\"", "data.raster_step_m = 1e-6"}) {
    EXPECT_THAT(parse_complaint(wrong),
                AllOf(StartsWith("deck.toml:1: "), HasSubstr(wrong.substr(0, wrong.find(' '))),
                      HasSubstr("wrong type"), HasSubstr("allowed: ")))
        << wrong;
  }
}

TEST(Parse, OutOfRangeNamesKeyValueAndRange) {
  EXPECT_THAT(parse_complaint("[solver]\nepochs = 0\n"),
              AllOf(StartsWith("deck.toml:2: "), HasSubstr("solver.epochs = 0 is out of range"),
                    HasSubstr("1 to 1e6")));
  for (const std::string wrong :
       {"solver.epochs = 9223372036854775807", "solver.seed = -1", "solver.object_alpha = 0.0",
        "solver.probe_alpha = 1.0001", "solver.batch_size = -1", "solver.batch_coverage = 0",
        "probe.n_modes = 0", "simulation.detector_shape = [7, 64]", "decomposition.tiles = [2, 0]",
        "simulation.absorption = 1.0", "data.raster_shape = [0, 3]"}) {
    EXPECT_THAT(parse_complaint(wrong), HasSubstr("out of range")) << wrong;
  }
}

TEST(Parse, NumbersAreShownAsTheyWereWritten) {
  EXPECT_THAT(parse_complaint("experiment.energy_eV = 8.8"), HasSubstr("energy_eV = 8.8 is out"));
}

TEST(Parse, ImplausibleUnitsNameTheLikelyMistake) {
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"experiment.energy_eV = 8.8", "did you give keV?"},
      {"experiment.voltage_V = 80", "did you give kV?"},
      {"experiment.detector_pixel_m = 75", "pixels are in metres"},
      {"experiment.distance_m = 1962.0", "did you give millimetres?"},
      {"experiment.detector_pixel_rad = 0.5", "did you give milliradians?"},
      {"probe.semi_angle_rad = 21.4", "did you give milliradians?"},
      {"data.raster_rotation_rad = 90", "did you give degrees?"},
      {"data.raster_step_m = [1.0, 1.0]", "did you give micrometres?"}};
  for (const auto& [wrong, hint] : mistakes) {
    EXPECT_THAT(parse_complaint(wrong), AllOf(HasSubstr("out of range"), HasSubstr(hint)));
  }
}

TEST(Parse, NotFiniteNumbersAreRefused) {
  for (const std::string value : {"nan", "inf", "-inf"}) {
    EXPECT_THAT(parse_complaint("solver.object_step = " + value), HasSubstr("is not finite"));
    EXPECT_THAT(parse_complaint("data.raster_step_m = [1e-6, " + value + "]"),
                HasSubstr("is not finite"));
  }
}

TEST(Parse, WordsOutsideTheChoicesAreRefused) {
  EXPECT_THAT(parse_complaint("data.zero_frequency = \"center\""),
              AllOf(HasSubstr("data.zero_frequency = \"center\" is not known"),
                    HasSubstr("\"centre\", \"corner\"")));
  EXPECT_THAT(parse_complaint("decomposition.transport = \"mpi\""),
              HasSubstr("\"auto\", \"host_mpi\", \"gpu_mpi\", \"nccl\", \"gpu_p2p\""));
  for (const std::string key :
       {"probe.initial", "object.initial", "solver.method", "solver.batch_order",
        "simulation.object", "simulation.scan", "simulation.noise"}) {
    EXPECT_THAT(parse_complaint(key + " = \"other\""), HasSubstr("is not known")) << key;
  }
}

TEST(Parse, ListsHaveTheirLength) {
  for (const std::string key : {"decomposition.tiles", "data.raster_shape", "data.raster_step_m",
                                "simulation.detector_shape"}) {
    EXPECT_THAT(parse_complaint(key + " = [8]"),
                AllOf(HasSubstr("wrong length"), HasSubstr("list of 2")));
    EXPECT_THAT(parse_complaint(key + " = [8, 8, 8]"), HasSubstr("wrong length"));
  }
  EXPECT_TRUE(parsed(xray_deck, {"decomposition.tiles=[]"}).decomposition.tiles.empty());
  EXPECT_TRUE(parsed(xray_deck + "decomposition.tiles = [2, 2]\n", {"decomposition.tiles=auto"})
                  .decomposition.tiles.empty());
}

TEST(Parse, AnEmptyDatasetNameMeansNone) {
  EXPECT_EQ(parsed(raster_deck).data.positions, std::nullopt);
  EXPECT_EQ(parsed(xray_deck).data.positions, "positions_m");
  EXPECT_EQ(parsed(xray_deck + "data.valid_pixels = \"mask\"\n", {"data.valid_pixels="})
                .data.valid_pixels,
            std::nullopt);
}

TEST(Overrides, WinOverTheDeckAndTheLastWins) {
  const std::string deck = xray_deck + "solver.epochs = 5\n";
  EXPECT_EQ(parsed(deck, {"solver.epochs=6"}).solvers[0].epochs, 6);
  EXPECT_EQ(parsed(deck, {"solver.epochs=6", " solver.epochs = 7 "}).solvers[0].epochs, 7);
}

const std::string two_solvers = xray_deck + R"(
[[solver]]
epochs = 5
[[solver]]
method = "epie"
epochs = 7
batch_size = 8
)";

TEST(Overrides, ABareWordIsText) {
  EXPECT_EQ(parsed(xray_deck, {"title=Siemens star, 2nd try"}).title, "Siemens star, 2nd try");
  EXPECT_EQ(parsed(xray_deck, {"title=\"in quotes\""}).title, "in quotes");
  EXPECT_EQ(parsed(xray_deck, {"data.patterns=entry/data=1"}).data.patterns, "entry/data=1");
  EXPECT_EQ(parsed(xray_deck, {"title=C:\\data"}).title, "C:\\data");
  EXPECT_THAT(parse_complaint(xray_deck, {"solver.epochs=many"}),
              AllOf(HasSubstr("override 'solver.epochs=many': "), HasSubstr("wrong type")));
}

TEST(Overrides, MalformedOnesAreRefused) {
  for (const std::string wrong : {"solver.epochs", "=3", " = 3", ""}) {
    EXPECT_THAT(parse_complaint(xray_deck, {wrong}), HasSubstr("is not key=value")) << wrong;
  }
  for (const std::string wrong : {"title=\"open", "decomposition.tiles=[2, 2", "title=it's",
                                  "title=a\nother=3", "solver.epochs=3\nother=3"}) {
    EXPECT_THAT(parse_complaint(xray_deck, {wrong}), HasSubstr("neither a TOML value")) << wrong;
  }
}

TEST(Paths, StartAtTheDeckOrForOverridesAtTheWorkingFolder) {
  const std::string toml_text = xray_deck + "probe.file = \"/data/probe.h5\"\n";
  const Deck plain = parse(toml_text, "decks/star/deck.toml", {});
  EXPECT_EQ(plain.data.file, "decks/star/scan.h5");
  EXPECT_EQ(plain.probe.file, "/data/probe.h5");
  EXPECT_EQ(plain.output.file, "decks/star/result.h5");  // the default goes beside the deck, too
  EXPECT_EQ(plain.run.resume, "");
  EXPECT_EQ(plain.probe.dataset, "probe");  // a dataset is no path

  const std::vector<std::string> overrides = {"data.file=other.h5"};
  EXPECT_EQ(parse(toml_text, "decks/star/deck.toml", overrides).data.file, "other.h5");
}

TEST(Parse, KeysWithoutEndAndSolversWithoutNumberAreRefused) {
  std::string key = "a";
  for (int i = 0; i < 100000; ++i) key += ".a";
  const auto refusal = [](const std::string& words) {
    return complaint([&] { parsed(xray_deck + words + "\n"); });
  };
  for (const std::string& words :
       {key + " = 1", '[' + key + ']', "[[" + key + "]]", "title = {" + key + " = 1}"})
    EXPECT_THAT(refusal(words), HasSubstr("deck.toml: a key of more than 500 parts"));
  EXPECT_THAT(complaint([&] { parsed(xray_deck, {"title={" + key + "=1}"}); }),
              HasSubstr("is neither a TOML value nor a bare word"));
  std::string solvers;
  for (int i = 0; i < 1001; ++i) solvers += "[[solver]]\n";
  EXPECT_THAT(complaint([&] { parse(solvers, "deck.toml", {}); }),
              HasSubstr("deck.toml: 1001 solvers; at most 1000"));
}

TEST(Words, StandForWhatTheJobSays) {
  const Words words{{"SLURM_ARRAY_TASK_ID", "12"}, {"DEFOCUS", "2e-6"}, {"METHOD", "adam"}};
  const std::vector<std::string> overrides{"solver.method={METHOD}",
                                           "output.file={SLURM_ARRAY_TASK_ID}.h5"};
  const Deck deck = parse(xray_deck +
                              "title = \"scan {SLURM_ARRAY_TASK_ID} of {12}, {low}\"\n"
                              "probe.defocus_m = \"{DEFOCUS}\"\n",
                          "deck.toml", overrides, &words);
  EXPECT_EQ(deck.title, "scan 12 of {12}, {low}");
  EXPECT_EQ(deck.output.file, "12.h5");
  EXPECT_EQ(deck.probe.defocus_m, 2e-6);
  EXPECT_EQ(deck.solvers[0].method, "adam");
}

TEST(Words, ThatNobodyKnowsAreRefusedByName) {
  const Words words{{"SLURM_ARRAY_TASK_ID", "12"}};
  const auto refusal = [&](const std::string& value) {
    return complaint(
        [&] { parse(xray_deck + "output.file = \"" + value + "\"\n", "deck.toml", {}, &words); });
  };
  EXPECT_THAT(refusal("{SLURM_ARRAY_TASK}.h5"),
              AllOf(HasSubstr("output.file: {SLURM_ARRAY_TASK} in '{SLURM_ARRAY_TASK}.h5'"),
                    HasSubstr("SLURM_ARRAY_TASK_ID")));
  EXPECT_EQ(refusal("{SLURM_ARRAY_TASK_ID}.h5"), "");
  EXPECT_EQ(parsed(xray_deck + "title = \"{SLURM_ARRAY_TASK}\"\n").title, "{SLURM_ARRAY_TASK}");
}

}  // namespace
}  // namespace tessera::deck
