// Help, versions, summary, repeatability, and the examples as they come.

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "launch.hpp"
#include "scan_file.hpp"

namespace tessera::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Program, SaysWhatItIsMadeOf) {
  const Outcome outcome = run_tessera({1, {"--version"}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, StartsWith("tessera "));
  for (const char* part :
       {"compiler ", "kokkos ", "gpu ", "mpi ", "hdf5 ", "fft ", "transports host_mpi"})
    EXPECT_THAT(outcome.out, HasSubstr(std::string("\n") + part));
}

TEST(Program, HelpsOnceOnAnyNumberOfRanks) {
  const Outcome outcome = run_tessera({4, {"--help"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("Tessera"));
  const std::size_t first = outcome.out.find("Usage:");
  EXPECT_EQ(outcome.out.find("Usage:", first + 1), std::string::npos);
  for (const char* subcommand : {"reconstruct", "resume", "plan", "simulate", "init", "look",
                                 "convert", "inspect", "compare", "report", "methods"})
    EXPECT_THAT(outcome.out, HasSubstr(subcommand));
}

/// 16 positions on a raster of 4 x 4; from one process and from several.
TEST(Program, PlansForAnyRanksFromMetadata) {
  const ScanFolder folder;
  for (const int n_ranks : {1, 3}) {
    const auto plan = [&](const std::string& key) {
      return run_tessera({n_ranks, {"plan", folder.deck(), key, "--ranks", "1,2,16"}});
    };
    const Outcome outcome = plan("run.deterministic=true");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<std::string> all = lines(outcome.out);
    if (TESSERA_RUNS_ON_GPUS)  // which are named first
      std::erase_if(all, [](const std::string& line) { return line.starts_with("rank "); });
    ASSERT_EQ(all.size(), 6u) << outcome.out;
    EXPECT_THAT(all[0], HasSubstr("16 positions of 16 x 16 pixels"));
    EXPECT_THAT(all[2], ::testing::MatchesRegex(" +1 +16 +1.00 +0% .* 0 bytes +0"));
    EXPECT_THAT(all[3], ::testing::MatchesRegex(" +2 +8 +1.00 +[1-9].*"));
    EXPECT_THAT(all[4], ::testing::MatchesRegex(" +16 +1 .*"));
    EXPECT_THAT(all[5], HasSubstr("on 1 rank or more"));
    EXPECT_THAT(plan("run.host_memory_bytes=1000").out, HasSubstr("no number of ranks holds"));
  }
}

TEST(Program, SaysAtOnceThatAScanDoesNotFit) {
  const ScanFolder folder;
  expect_error(
      run_tessera({3, folder.reconstruct({"run.host_memory_bytes=1e6"})}), 2,
      {"a rank needs at least ", TESSERA_RUNS_ON_GPUS ? " and 1 MB (" : "may take 1 MB and 1 MB",
       "run.host_memory_bytes"});
}

TEST(Program, ReportsAtTheEndOfARun) {
  const ScanFolder folder;
  const std::string page = folder.path("report.html");
  const auto words = folder.reconstruct({"output.report=" + page});
  Command without_library{3, words};
  without_library.limit = "export TESSERA_CHART_JS=" + folder.path("no.js");
  expect_error(run_tessera(without_library), 2, {"no.js", "libjs-chart.js"});
  const Outcome outcome = run_tessera({3, words});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("report " + page));

  std::ifstream file(page);
  const std::string html{std::istreambuf_iterator<char>(file), {}};
  const std::string before = "<script type=\"application/json\" id=\"contents\">";
  const std::size_t begin = html.find(before) + before.size();
  const auto shown =
      nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin));
  const io::File result = io::File::open(folder.result());
  EXPECT_EQ(shown["runs"][0]["history"]["error"], result.read_doubles("history/error"));
  EXPECT_EQ(shown["runs"][0]["figures"]["final_error"],
            *result.number_attribute("/", "final_error"));
  EXPECT_EQ(shown["runs"][0]["tiles"]["owned"].size(), 3u);
  EXPECT_EQ(shown["runs"][0]["ranks"]["compute_s"], result.read_doubles("ranks/compute_s"));
  EXPECT_EQ(result.read_doubles("ranks/device_bytes").size(), 3u);

  const std::string again = folder.path("again.html");
  ASSERT_EQ(run_tessera({1, {"report", folder.result(), "-o", again}}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(again));
  expect_error(run_tessera({1, {"report", folder.scan(), "-o", again}}), 2, {"scan.h5", "inspect"});
  expect_error(run_tessera({1, {"report", folder.result(), "-o", folder.result()}}), 2, {"-o"});
}

struct Help {
  std::string subcommand;
  std::vector<std::string> words;
};

void PrintTo(const Help& help, std::ostream* out) {
  *out << help.subcommand;
}

class Subcommand : public ::testing::TestWithParam<Help> {};
INSTANTIATE_TEST_SUITE_P(
    Program, Subcommand,
    ::testing::Values(Help{"reconstruct", {"deck", "key=value", "--summary", "solver.epochs"}},
                      Help{"resume", {"result", "key=value", "--summary", "solver.epochs"}},
                      Help{"plan", {"deck", "key=value", "--ranks"}},
                      Help{"simulate", {"deck", "key=value", "data.file"}},
                      Help{"init", {"file", "--output"}},
                      Help{"inspect", {"file", "--json", "--png", "--deep-zoom"}},
                      Help{"compare", {"a", "b", "--json"}},
                      Help{"report", {"results", "--output"}}),
    [](const auto& tested) { return tested.param.subcommand; });

TEST_P(Subcommand, HelpsWithUnitsAndDefaults) {
  const Outcome outcome = run_tessera({1, {GetParam().subcommand, "--help"}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, Not(HasSubstr("kokkos")));
  for (const std::string& word : GetParam().words) EXPECT_THAT(outcome.out, HasSubstr(word));
  const bool takes_a_deck = outcome.out.find("key=value") != std::string::npos;
  if (!takes_a_deck) return;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("experiment.energy_eV"), HasSubstr("eV"),
                    HasSubstr("solver.batch_size = \"auto\""), HasSubstr("solver.epochs = 100")));
}

TEST(Program, SummaryHoldsWhatIsPrintedAndWritten) {
  const ScanFolder folder;
  const std::string path = folder.path("summary.json");
  const Outcome outcome = run_tessera({4, folder.reconstruct({"--summary", path})});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto summary = nlohmann::json::parse(std::ifstream(path));
  const double error = summary["final_error"];
  const double r_factor = summary["final_r_factor"];
  EXPECT_THAT(outcome.out, HasSubstr(fmt::format(" after 3 epochs: error {:.6g}, r_factor "
                                                 "{:.6g}",
                                                 error, r_factor)));
  EXPECT_THAT(summary["status"].get<std::string>(), StartsWith("finished"));
  EXPECT_EQ(summary["ranks"], 4);
  EXPECT_EQ(summary["fitted_positions"], 16);
  EXPECT_EQ(summary["batch_sizes"], std::vector{8});
  EXPECT_THAT(outcome.out, HasSubstr("batches of 8\n"));
  EXPECT_EQ(summary["pattern_bytes_read"], 16 * 16 * 16 * 4);
  for (const char* part : {"compute", "halo", "reduce", "I/O"}) {
    const auto& seconds = summary["seconds_per_rank"][part];
    EXPECT_LE(seconds["min"], seconds["mean"]) << part;
    EXPECT_LE(seconds["mean"], seconds["max"]) << part;
    EXPECT_THAT(outcome.out,
                HasSubstr(fmt::format("{:<10} {:>8.3f} {:>8.3f} {:>8.3f}", part,
                                      seconds["min"].get<double>(), seconds["mean"].get<double>(),
                                      seconds["max"].get<double>())));
  }
  const io::File result = io::File::open(folder.result());
  EXPECT_EQ(result.number_attribute("/", "final_error"), error);
  EXPECT_EQ(result.number_attribute("/", "final_r_factor"), r_factor);
  EXPECT_EQ(result.read_doubles("history/error"),
            summary["history"]["error"].get<std::vector<double>>());
}

/// Patterns that have nothing to do with one another, which an object explains in part; steps of 0
/// leave the start, which explains them worse than their mean.
TEST(Program, AResultNoBetterThanAnEmptyObjectSaysSo) {
  SmallScan scan;
  for (int position = 0; position < 16; ++position)
    for (int y = 0; y < 16; ++y)
      for (int x = 0; x < 16; ++x) scan.count(position, y, x) = (7 * y + 3 * x + position) % 5;
  const ScanFolder folder(scan);
  for (const bool is_poor : {true, false}) {
    const std::vector<std::string> poor{"solver.object_step=0", "solver.probe_step=0"};
    const Outcome outcome = run_tessera(
        {1, folder.reconstruct(is_poor ? poor : std::vector<std::string>{"solver.epochs=60"})});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::string status = *io::File::open(folder.result()).text_attribute("/", "status");
    EXPECT_EQ(status, is_poor ? "finished, no better than an empty object" : "finished");
    EXPECT_EQ(outcome.err.find("says nothing of the sample") != std::string::npos, is_poor);
  }
}

TEST(Program, PrintsTheTableOfMethodsOnce) {
  const Outcome outcome = run_tessera({3, {"methods"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("solver.method  probe modes"));
  for (const char* method :
       {"epie", "rpie", "mpie", "dm", "raar", "lsqml", "ml", "lbfgs", "adam"}) {
    const std::string row = std::string("\n") + method + " ";
    const std::size_t first = outcome.out.find(row);
    EXPECT_NE(first, std::string::npos) << method;
    EXPECT_EQ(outcome.out.find(row, first + 1), std::string::npos) << method;
  }
}

struct Rule {
  std::string name;
  std::vector<std::string> overrides;
  int epochs;
  std::string status;
};

void PrintTo(const Rule& rule, std::ostream* out) {
  *out << rule.name;
}

class StoppedBy : public ::testing::TestWithParam<Rule> {};
INSTANTIATE_TEST_SUITE_P(
    Program, StoppedBy,
    ::testing::Values(
        Rule{"error", {"stop.error=1e6"}, 1, "stopped: target error (not above 1e+06)"},
        Rule{"time", {"stop.time_s=1e-6"}, 1, "stopped: time (1e-06 s are over)"},
        Rule{"plateau",
             {"stop.plateau_change=1", "stop.plateau_epochs=2"},
             3,
             "stopped: plateau (r_factor changed less than 1 for 2 epochs)"}),
    [](const auto& tested) { return tested.param.name; });

TEST_P(StoppedBy, TheRuleIsNamedAndTheResultIsThere) {
  const ScanFolder folder;
  const std::string path = folder.path("summary.json");
  std::vector<std::string> words = GetParam().overrides;
  words.insert(words.end(), {"solver.epochs=50", "validation.fraction=0.2", "--summary", path});
  const Outcome outcome = run_tessera({3, folder.reconstruct(words)});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(lines(outcome.out).back(),
              StartsWith("result " + folder.result() + ", " + GetParam().status));
  EXPECT_THAT(outcome.out, HasSubstr("  validation "));
  const auto summary = nlohmann::json::parse(std::ifstream(path));
  EXPECT_THAT(summary["status"].get<std::string>(), StartsWith(GetParam().status));
  EXPECT_EQ(summary["held_out_positions"], 3);
  const io::File result = io::File::open(folder.result());
  EXPECT_EQ(result.text_attribute("/", "status"), summary["status"].get<std::string>());
  EXPECT_EQ(result.number_attribute("/", "epochs"), GetParam().epochs);
  EXPECT_EQ(result.read_doubles("history/validation_error"),
            summary["history"]["validation_error"].get<std::vector<double>>());
}

TEST(Program, RepeatsBitForBitWhenDeterministic) {
  const ScanFolder folder;
  for (const char* name : {"first.h5", "second.h5"}) {
    const Outcome outcome = run_tessera(
        {3, folder.reconstruct({"run.deterministic=true", "solver.epochs=10", "probe.n_modes=2",
                                "output.file=" + folder.path(name)})});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  const io::File first = io::File::open(folder.path("first.h5"));
  const io::File second = io::File::open(folder.path("second.h5"));
  for (const char* name : {"object", "probe"}) {
    const WaveStack a = first.read_waves(name);
    const WaveStack b = second.read_waves(name);
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << name;
  }
}

/// Decks in examples/ that need nothing but themselves.
std::vector<std::string> simulated_examples() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(TESSERA_EXAMPLES)) {
    if (entry.path().extension() != ".toml") continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (text.find("[simulation]") != std::string::npos) paths.push_back(entry.path());
  }
  return paths;
}

class Example : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Program, Example, ::testing::ValuesIn(simulated_examples()),
                         [](const auto& tested) {
                           return std::filesystem::path(tested.param).stem().string();
                         });

TEST_P(Example, SimulatesReconstructsAndCompares) {
  const ScratchFolder folder;
  const std::string scan = folder.path("scan.h5");
  const std::string result = folder.path("result.h5");
  const std::vector<std::string> files{"data.file=" + scan, "output.file=" + result,
                                       "output.pictures=" + folder.path("pictures"),
                                       "run.share_gpu=true"};
  std::vector<std::string> words{"simulate", GetParam()};
  words.insert(words.end(), files.begin(), files.end());
  const Outcome simulated = run_tessera({1, words});
  ASSERT_EQ(simulated.exit_code, 0) << simulated.err;

  words[0] = "reconstruct";
  words.push_back("solver.epochs=5");
  const Outcome reconstructed = run_tessera({2, words});
  ASSERT_EQ(reconstructed.exit_code, 0) << reconstructed.err;
  EXPECT_TRUE(std::filesystem::exists(folder.path("pictures/object_phase.png")));
  const std::vector<double> error = io::File::open(result).read_doubles("history/error");
  ASSERT_EQ(error.size(), 5u);
  // At few counts the likelihood goes on where amplitudes already get worse.
  EXPECT_LT(std::ranges::min(error), error.front());

  const Outcome compared = run_tessera({1, {"compare", result, scan, "--json"}});
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_TRUE(nlohmann::json::accept(compared.out)) << compared.out;
  const Outcome inspected = run_tessera({1, {"inspect", scan, "--json"}});
  ASSERT_EQ(inspected.exit_code, 0) << inspected.err;
  EXPECT_TRUE(nlohmann::json::accept(inspected.out)) << inspected.out;
}

}  // namespace
}  // namespace tessera::testing
