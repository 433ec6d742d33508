// Two halves of a scan, and what they say of its resolution, against the simulation's truth.

#include <cmath>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tessera/io/hdf5.hpp"

#include "launch.hpp"

namespace tessera::testing {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

/// Where the correlation with the truth first falls below what it is when two halves of the data
/// correlate by `threshold`: sqrt(2 T / (1 + T)) (Rosenthal & Henderson 2003, J. Mol. Biol. 333,
/// 721).
double true_fraction(const Json& rings, const std::string& threshold) {
  for (std::size_t i = 1; i < rings["correlation"].size(); ++i) {
    const double t = rings[threshold][i];
    if (rings["correlation"][i] < std::sqrt(2 * t / (1 + t))) return rings["nyquist_fraction"][i];
  }
  return 1;
}

class TwoHalves : public ::testing::Test {
 protected:
  TwoHalves() {
    words_ = {std::string(TESSERA_EXAMPLES) + "/demo.toml",
              "data.file=" + scan_,
              "output.file=" + result_,
              "simulation.counts_per_pattern=1e4",
              "solver.epochs=40",
              "run.share_gpu=true"};
    const Outcome simulated = run_tessera({1, with("simulate")});
    EXPECT_EQ(simulated.exit_code, 0) << simulated.err;
  }
  std::vector<std::string> with(const std::string& command,
                                const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{command};
    all.insert(all.end(), words_.begin(), words_.end());
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  const ScratchFolder folder_;
  const std::string scan_ = folder_.path("scan.h5");
  const std::string result_ = folder_.path("result.h5");
  std::vector<std::string> words_;
};

TEST_F(TwoHalves, SayWhatTheDataResolveOnAnyRanks) {
  const std::string summary_path = folder_.path("summary.json");
  std::vector<double> fractions;
  for (const int n_ranks : {3, 1}) {
    const Outcome outcome = run_tessera(
        {n_ranks, with("reconstruct", {"validation.halves=true", "--summary", summary_path})});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("half 2 of 2, epoch   40/40"));
    EXPECT_THAT(outcome.out, HasSubstr("two halves agree, 1/2 bit to 0."));
    const Json halves = Json::parse(std::ifstream(summary_path))["halves"];
    fractions.push_back(halves["half_bit_nyquist_fraction"]);
    const io::File result = io::File::open(result_);
    EXPECT_EQ(result.number_attribute("halves", "half_bit_nyquist_fraction"), fractions.back());
    EXPECT_NEAR(halves["half_bit_half_period_m"].get<double>(),
                *result.number_attribute("/", "object_pixel_m") / fractions.back(), 1e-14);
    EXPECT_EQ(result.read_doubles("halves/correlation").size(),
              result.read_doubles("halves/half_bit").size());
    for (const char* gone : {"result.h5.half1", "result.h5.half2", "result.h5.part"})
      EXPECT_FALSE(std::filesystem::exists(folder_.path(gone))) << gone;
  }
  // Two runs alike differ by 0.0008: FFTW chooses other transforms, and 40 epochs amplify the
  // rounding. Rings are 0.014 apart.
  EXPECT_NEAR(fractions[0], fractions[1], 4e-3);
  const Outcome compared = run_tessera({1, {"compare", result_, scan_, "--json"}});
  const double truth = true_fraction(Json::parse(compared.out)["rings"], "half_bit");
  EXPECT_LT(truth, 0.9);
  EXPECT_NEAR(fractions[0] / truth, 1, 0.1);
}

/// What was added to it is under its checksum.
TEST_F(TwoHalves, LeaveASoundResult) {
  const Outcome outcome =
      run_tessera({1, with("reconstruct", {"validation.halves=true", "solver.epochs=2"})});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::fstream file(result_, std::ios::in | std::ios::out | std::ios::binary);
  std::string end(32, ' ');
  file.seekg(-32, std::ios::end);
  file.read(end.data(), 32);
  EXPECT_THAT(end, ::testing::StartsWith("tessera checksum"));
  file.seekp(-40, std::ios::end);
  file.write("damaged!", 8);
  file.close();
  expect_error(run_tessera({1, {"resume", result_, "solver.epochs=3"}}), 2,
               {"result.h5", "damaged"});
}

/// A run that was stopped has no time for halves.
TEST_F(TwoHalves, ComeAfterAWholeRunOnly) {
  const Outcome outcome = run_tessera(
      {1, with("reconstruct", {"validation.halves=true", "stop.error=1", "solver.epochs=2"})});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_FALSE(io::File::open(result_).has("halves"));
  EXPECT_THAT(outcome.err + outcome.out, HasSubstr("validation.halves"));
}

}  // namespace
}  // namespace tessera::testing
