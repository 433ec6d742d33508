// Every command of tessera_bench, started as a person would, with cases of seconds.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "deck/methods.hpp"
#include "support/scratch_folder.hpp"

namespace tessera::testing {
namespace {

using Json = nlohmann::json;

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

class Bench : public ::testing::Test {
 protected:
  /// Exit code; what it printed is in `printed_`.
  int run(const std::string& command) {
    const std::string log = folder_.path("log");
    const int status = std::system((command + " > " + log + " 2>&1").c_str());
    printed_ = contents(log);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int bench(const std::string& arguments, int n_ranks = 1) {
    const std::string start = n_ranks == 1 ? ""
                                           : TESSERA_MPIEXEC " " TESSERA_MPIEXEC_FLAGS " -n " +
                                                 std::to_string(n_ranks) + " ";
    return run(start + TESSERA_BENCH + " " + arguments);
  }
  Json json(const std::string& name) const { return Json::parse(contents(folder_.path(name))); }

  ScratchFolder folder_;
  std::string printed_;
};

TEST_F(Bench, GradientTimesEpochsAndTheirTransforms) {
  ASSERT_EQ(bench("gradient --raster 8x6 --size 32 --step 4 --epochs 3 solver.batch_size=16 "
                  "probe.n_modes=2 --json " +
                      folder_.path("g.json"),
                  2),
            0)
      << printed_;
  const Json result = json("g.json");
  EXPECT_EQ(result["ranks"], 2);
  EXPECT_EQ(result["positions"], 48);
  EXPECT_EQ(result["modes"], 2);
  EXPECT_EQ(result["batch_size"], 16);
  EXPECT_EQ(result["epochs_ms"].size(), 3u);
  EXPECT_LT(result["last_error"], result["first_error"]);
  EXPECT_GT(result["halo_bytes_per_epoch"], 0);
  EXPECT_LT(result["object_bytes_per_rank"], result["object_bytes"]);
  EXPECT_NEAR(result["us_per_position"].get<double>(), 1e3 * result["epoch_ms"].get<double>() / 48,
              1e-6);
  for (const char* positive : {"epoch_ms", "transforms_ms", "transforms_and_pass_ms",
                               "copy_GB_per_s", "multiply_add_GFLOP_per_s", "device_bytes"})
    EXPECT_GT(result[positive], 0) << positive;
}

TEST_F(Bench, GradientWithoutExchangeMovesNothing) {
  ASSERT_EQ(bench("gradient --raster 8x6 --size 32 --step 4 --epochs 1 --skip-exchange --json " +
                      folder_.path("g.json"),
                  2),
            0)
      << printed_;
  EXPECT_EQ(json("g.json")["transport"], "none");
  EXPECT_EQ(json("g.json")["exchange"], false);
}

TEST_F(Bench, GradientStreamsWhatDoesNotFit) {
  const auto error = [&](const std::string& limit, bool streams) {
    // At the start nothing but rounding gives dark pixels a phase: another plan of the transforms,
    // which a busy machine may measure, moves the errors by 1 %.
    EXPECT_EQ(
        bench("gradient --raster 32x32 --size 64 --step 4 --epochs 1 run.deterministic=true " +
              limit + " --json " + folder_.path("g.json")),
        0)
        << printed_;
    const Json result = json("g.json");
    EXPECT_EQ(result["streams_patterns"], streams) << limit;
    return result["last_error"].get<double>();
  };
  const double resident = error("", false);
  // The patterns alone are 8.4 MB.
  EXPECT_EQ(error("run.device_memory_bytes=8000000", true), resident);
}

TEST_F(Bench, StagesAddUpAndNameWhatTheyMove) {
  ASSERT_EQ(
      bench("stages --raster 8x6 --size 32 --step 4 --epochs 2 --json " + folder_.path("s.json")),
      0)
      << printed_;
  const Json result = json("s.json");
  double sum_ms = 0;
  bool has_transforms = false;
  for (const Json& stage : result["stages"]) {
    sum_ms += stage["ms"].get<double>();
    if (stage["name"] != "tessera::fft::forward") continue;
    has_transforms = true;
    EXPECT_GT(stage["bytes"], 0);
    EXPECT_GT(stage["flops"], 0);
    EXPECT_GT(stage["roof_share"], 0);
  }
  EXPECT_TRUE(has_transforms) << printed_;
  EXPECT_NEAR(sum_ms, result["stages_ms"].get<double>(), 1e-6);
}

TEST_F(Bench, StartupFindsAShareAndKeepsLittleOfEveryPosition) {
  for (const auto& [order, max_room] : {std::pair("spread", 1.0), std::pair("random", 1.2)}) {
    ASSERT_EQ(bench(std::string("startup --raster 500x500 --ranks 64 --batch-size 64 "
                                "--batch-order ") +
                    order + " --json " + folder_.path("u.json")),
              0)
        << printed_;
    const Json result = json("u.json");
    EXPECT_EQ(result["positions"], 250000);
    EXPECT_LE(result["blocks_reserved_to_used"].get<double>(), max_room) << order;
    EXPECT_GT(result["seconds"]["tiles"].get<double>(), 0);
  }
}

TEST_F(Bench, SolversHasARowForEveryMethodAndModel) {
  ASSERT_EQ(bench("solvers --raster 6x4 --size 32 --step 3 --epochs 2 --modes 1,2 "
                  "solver.batch_size=8 --json " +
                      folder_.path("s.json"),
                  2),
            0)
      << printed_;
  const Json rows = json("s.json")["solvers"];
  const std::size_t n_methods = deck::method_names().size();
  ASSERT_EQ(rows.size(), 2 * n_methods + 9);
  for (const Json& row : rows) {
    const bool whole = !deck::allows(row["method"].get<std::string>(), deck::Option::batches);
    EXPECT_EQ(row["batch_size"], whole ? 0 : 8) << row;
    EXPECT_LT(row["last_error"], row["first_error"]) << row;
    const double ratio = row["epoch_ms"].get<double>() / row["transforms_ms"].get<double>();
    EXPECT_NEAR(row["ratio"].get<double>() / ratio, 1, 1e-9) << row;
    EXPECT_NEAR(row["ratio_to_own"].get<double>() * row["transforms_needed"].get<double>(),
                2 * ratio, 1e-9 * ratio)
        << row;
  }
  EXPECT_EQ(rows[n_methods]["model"], "2 modes");
  ASSERT_EQ(bench("table " + folder_.path("")), 0) << printed_;
  EXPECT_NE(printed_.find("| `lsqml` | 2 slices | 8 |"), std::string::npos) << printed_;
}

TEST_F(Bench, SweepWritesResultsAndTableShowsThem) {
  ASSERT_EQ(run(std::string(TESSERA_SWEEP " " TESSERA_BENCH " ") + folder_.path("out") + " smoke"),
            0)
      << printed_;
  EXPECT_EQ(json("out/smoke.json")["positions"], 64);
  ASSERT_EQ(bench("table " + folder_.path("out")), 0) << printed_;
  EXPECT_NE(printed_.find("| smoke | 1 | 64 | 32 | 1 |"), std::string::npos) << printed_;
}

/// 1,000 positions of 32 x 32 pixels: 1.024e6 pixels of 2 x 5 x 10 + 36 + 23 flops and 2 bytes, and
/// an object of 976,000 bytes, read and written.
TEST_F(Bench, RooflineIsTheLeastThatCopyAndMultiplyAddsAllow) {
  const auto roofline = [&](double copy, double multiply_add, double epoch_ms) {
    nlohmann::json result{{"command", "gradient"},
                          {"streams_patterns", false},
                          {"positions", 2000},
                          {"ranks", 2},
                          {"window_px", 32},
                          {"modes", 1},
                          {"object_bytes_per_rank", 976000},
                          {"transforms_ms", 1},
                          {"copy_GB_per_s", copy},
                          {"multiply_add_GFLOP_per_s", multiply_add},
                          {"epochs_ms", {2 * epoch_ms, epoch_ms}}};
    std::ofstream(folder_.path("case.json")) << result;
    return run(TESSERA_STUDY_ROOFLINE " " + folder_.path(""));
  };
  const auto last_cell = [&] {
    const std::string table = contents(folder_.path("roofline.md"));
    return table.substr(table.find("| case | 2 |")).substr(0, 200);
  };
  EXPECT_EQ(roofline(4, 1000, 4), 0) << printed_;
  EXPECT_NE(last_cell().find("| 0.25 |"), std::string::npos) << last_cell();
  EXPECT_EQ(roofline(1000, 162.816, 2), 0) << printed_;
  EXPECT_NE(last_cell().find("| 0.50 |"), std::string::npos) << last_cell();
  EXPECT_EQ(roofline(1000, 162.816, 0.5), 1) << "faster than the machine multiplies";
}

/// What scaling/matrix sees of a `tessera`: "far" has thrice the object error of "good", "rises"
/// ends at twice its lowest E, "leaves" leaves a pattern out, "never" is refused, "broken" fails.
constexpr const char* pretended_tessera = R"(#!/bin/bash
echo "$*" >> calls
for word in "$@"; do
  case $word in
    solver.method=never) echo 'error: solver.method = "never" does not go with it' >&2; exit 2 ;;
    solver.method=broken) echo 'error: a disk is full' >&2; exit 1 ;;
    solver.method=rises) last=0.2 ;;
    solver.method=leaves) bad=7 ;;
    output.file=*) touch "${word#*=}" ;;
    --summary=*) summary=${word#*=} ;;
  esac
done
case $1 in
  simulate) touch weak_scan.h5 ;;
  reconstruct) echo '{"history": {"error": [0.9, 0.1]}, "final_error": '"${last:-0.1}"', "status": "finished", "bad_patterns": ['"$bad"']}' > $summary ;;
  compare)
    [[ $3 == *far* ]] && error=0.3
    echo '{"after": {"object_difference": '"${error:-0.1}"'}, "position_error_px": 0}' ;;
esac
)";

TEST_F(Bench, MatrixTellsRefusedFailedFarAndRisingApart) {
  const std::string program = folder_.path("tessera");
  std::ofstream(program) << pretended_tessera;
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto matrix = [&](const std::string& methods, const std::string& into) {
    std::ofstream(folder_.path("matrix.toml"))
        << "epochs = 2\n[bars]\nobject_over_best = 1.5\nlast_over_lowest = 1.2\n"
           "last_over_first = 1\n[method]\n" +
               methods + "\n[refined]\nnothing = []\n[[scan]]\nname = \"weak\"\nkeys = []\n";
    return run(std::string(TESSERA_MATRIX) + " " + program + " " + folder_.path(into) +
               " --matrix " + folder_.path("matrix.toml") + " --jobs 3");
  };
  const auto method = [](const std::string& name) {
    return name + " = [\"solver.method=" + name + "\"]\n";
  };
  EXPECT_EQ(matrix(method("good") + method("never"), "good"), 0) << printed_;
  EXPECT_NE(printed_.find("# 1 runs, 1 refused, 0 failed"), std::string::npos) << printed_;
  const std::string calls = contents(folder_.path("good/calls"));
  EXPECT_EQ(matrix(method("good") + method("never"), "good"), 0) << "goes on";
  EXPECT_EQ(contents(folder_.path("good/calls")), calls) << "nothing is run again";
  EXPECT_EQ(matrix(method("good"), "good"), 1);
  EXPECT_NE(printed_.find("another matrix"), std::string::npos) << printed_;
  EXPECT_EQ(
      matrix(method("good") + method("far") + method("rises") + method("leaves") + method("broken"),
             "all"),
      1);
  for (const char* line : {"4 runs, 0 refused, 1 failed", "1 of 4 runs within the bars",
                           "- weak, nothing, leaves: left out of a sound scan: [7]",
                           "- weak, nothing, far: object 0.3, 3.00 of the best",
                           "- weak, nothing, rises: E ends at 2.00 of its lowest: 0.2",
                           "- weak, nothing, broken: failed: error: a disk is full"})
    EXPECT_NE(printed_.find(line), std::string::npos) << line << " in " << printed_;
}

/// Rates are of this moment's machine, so that only their kind can be known: what is measured once
/// predicts itself.
TEST_F(Bench, MachineMeasuresWhatPredictNeeds) {
  ASSERT_EQ(bench("machine --windows 32 --name here -o " + folder_.path("m.toml"), 2), 0)
      << printed_;
  EXPECT_NE(contents(folder_.path("m.toml")).find("name = 'here'"), std::string::npos)
      << contents(folder_.path("m.toml"));
  const std::string scan = " --raster 16x16 --size 32 --step 2 solver.batch_size=64 --machine " +
                           folder_.path("m.toml") + " --json " + folder_.path("p.json");
  ASSERT_EQ(bench("gradient --epochs 3" + scan), 0) << printed_;
  // A busy machine may be several times slower than it was.
  EXPECT_GT(json("p.json")["predicted_over_least"], 0.2) << printed_;
  EXPECT_LT(json("p.json")["predicted_over_least"], 5) << printed_;
  ASSERT_EQ(bench("predict --ranks 1,4" + scan), 0) << printed_;
  const Json predictions = json("p.json")["predictions"];
  ASSERT_EQ(predictions.size(), 2u);
  for (const Json& row : predictions) {
    double sum_ms = 0;
    for (const char* term :
         {"interior_ms", "border_ms", "exchange_ms", "probe_ms", "updates_ms", "rest_ms"})
      sum_ms += row[term].get<double>();
    EXPECT_NEAR(row["epoch_ms"].get<double>() / sum_ms, 1, 1e-9);
  }
  EXPECT_EQ(predictions[0]["exchange_ms"], 0);
  EXPECT_GT(predictions[1]["border_ms"], 0);
}

TEST_F(Bench, SolversHoldAgainstCommittedRatios) {
  // Medians of five: times so short are now and then those of something else.
  const std::string words =
      "solvers --raster 4x4 --size 32 --step 3 --epochs 5 --modes 1 "
      "solver.batch_size=8 ";
  const std::string file = folder_.path("committed.json");
  ASSERT_EQ(bench(words + "--json " + file), 0) << printed_;
  const Json measured = json("committed.json");
  const auto with_first_ratio = [&](double factor) {
    Json changed = measured;
    for (Json& row : changed["solvers"]) row["ratio"] = 1e6;
    changed["solvers"][0]["ratio"] = factor * measured["solvers"][0]["ratio"].get<double>();
    std::ofstream(file) << changed;
  };
  with_first_ratio(1e6);
  EXPECT_EQ(bench(words + "--against " + file), 0) << printed_;
  with_first_ratio(0.01);
  EXPECT_EQ(bench(words + "--against " + file), 1);
  const std::string name = measured["solvers"][0]["method"].get<std::string>() + ", 1 mode: epoch";
  EXPECT_NE(printed_.find(name), std::string::npos) << printed_;
  EXPECT_NE(printed_.find("1 of "), std::string::npos) << printed_;
  EXPECT_EQ(bench("solvers --raster 4x5 --size 32 --against " + file), 2);
  EXPECT_NE(printed_.find("raster"), std::string::npos) << printed_;
}

TEST_F(Bench, BadInputIsOneLineAndExitCodeTwo) {
  EXPECT_EQ(bench("gradient --size 4"), 2);
  EXPECT_NE(printed_.find("window must be >= 8"), std::string::npos) << printed_;
  EXPECT_EQ(bench("table " + folder_.path("nothing")), 2);
  EXPECT_EQ(bench("gradient solver.batch_siz=1"), 2);
  EXPECT_NE(printed_.find("solver.batch_size"), std::string::npos) << printed_;
  EXPECT_EQ(bench("grad"), 2);
}

}  // namespace
}  // namespace tessera::testing
