#include <filesystem>
#include <fstream>
#include <map>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "commands.hpp"

namespace tessera::scaling {
namespace {

using Json = nlohmann::json;
using Results = std::map<std::string, Json>;  ///< by file name without .json

Results read_results(const std::string& folder) {
  Results results;
  if (!std::filesystem::is_directory(folder))
    throw InputError(text("there is no folder \"", folder, "\" with results of scaling/sweep"));
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    const Json json = Json::parse(file, nullptr, false);
    if (json.is_discarded() || !json.contains("command"))
      throw InputError(text(entry.path().string(), " is not a result of tessera_bench"));
    results[entry.path().stem().string()] = json;
  }
  if (results.empty()) throw InputError(text("\"", folder, "\" holds no results (*.json)"));
  return results;
}

double positions_per_second_and_rank(const Json& result) {
  return result["positions"].get<double>() / result["epoch_ms"].get<double>() /
         result["ranks"].get<double>();
}

/// Speed per rank over that of the same case on one rank, NAME_1; empty where there is none.
std::string efficiency(const Results& results, const std::string& name) {
  const auto base = results.find(name.substr(0, name.rfind('_')) + "_1");
  if (base == results.end() || base->first == name) return "";
  return fmt::format("{:.3f}", positions_per_second_and_rank(results.at(name)) /
                                   positions_per_second_and_rank(base->second));
}

void print_gradients(const Results& results) {
  fmt::print(
      "| case | ranks | positions | window | modes | batch | transport | ms/epoch | us/position | "
      "transforms ms | and a pass ms | ratio | efficiency | device GB | object of a rank | "
      "halo MB/epoch |\n");
  constexpr int n_columns = 16;
  for (int i = 0; i < n_columns; ++i) fmt::print("| --- ");
  fmt::print("|\n");
  for (const auto& [name, r] : results) {
    if (r["command"] != "gradient") continue;
    const auto number = [&r = r](const char* key) { return r[key].get<double>(); };
    fmt::print(
        "| {} | {} | {} | {} | {} | {} | {} | {:.2f} | {:.3f} | {:.2f} | {:.2f} | {:.2f} | {} | "
        "{:.2f} | {:.0f} % | {:.1f} |\n",
        name, r["ranks"].get<int>(), r["positions"].get<std::int64_t>(), r["window_px"].get<int>(),
        r["modes"].get<int>(), r["batch_size"].get<int>(), r["transport"].get<std::string>(),
        number("epoch_ms"), number("us_per_position"), number("transforms_ms"),
        number("transforms_and_pass_ms"), number("ratio"), efficiency(results, name),
        1e-9 * number("device_bytes"),
        100 * number("object_bytes_per_rank") / number("object_bytes"),
        1e-6 * number("halo_bytes_per_epoch"));
  }
}

void print_stages(const std::string& name, const Json& result) {
  fmt::print("\n{}: epoch {:.2f} ms; copy {:.0f} GB/s, multiply-add {:.0f} GFLOP/s\n\n", name,
             result["epoch_ms"].get<double>(), result["copy_GB_per_s"].get<double>(),
             result["multiply_add_GFLOP_per_s"].get<double>());
  fmt::print("| stage | calls | ms | GB | GFLOP | roof |\n| --- | --- | --- | --- | --- | --- |\n");
  for (const Json& stage : result["stages"]) {
    const double share = stage["roof_share"].get<double>();
    fmt::print("| `{}` | {} | {:.3f} | {:.2f} | {:.1f} | {} |\n", stage["name"].get<std::string>(),
               stage["calls"].get<std::int64_t>(), stage["ms"].get<double>(),
               1e-9 * stage["bytes"].get<double>(), 1e-9 * stage["flops"].get<double>(),
               share > 0 ? fmt::format("{:.0f} %", 100 * share) : "");
  }
}

void print_solvers(const std::string& name, const Json& result) {
  fmt::print("\n{}: {} x {} x {}, {} rank(s)\n\n", name, result["positions"].get<std::int64_t>(),
             result["window_px"].get<int>(), result["window_px"].get<int>(),
             result["ranks"].get<int>());
  fmt::print(
      "| method | model | batch | ms/epoch | 2 bare transforms, ms | transforms needed | ratio | "
      "to "
      "its own |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const Json& row : result["solvers"])
    fmt::print("| `{}` | {} | {} | {:.1f} | {:.1f} | {:.2f} | {:.2f} | {:.2f} |\n",
               row["method"].get<std::string>(), row["model"].get<std::string>(),
               row["batch_size"].get<int>(), row["epoch_ms"].get<double>(),
               row["transforms_ms"].get<double>(), row["transforms_needed"].get<double>(),
               row["ratio"].get<double>(), row["ratio_to_own"].get<double>());
}

}  // namespace

void bench_table(const std::string& folder, const comm::Communicator& comm) {
  comm.together([&] {
    if (!comm.is_root()) return;
    const Results results = read_results(folder);
    print_gradients(results);
    for (const auto& [name, result] : results) {
      if (result["command"] == "stages") print_stages(name, result);
      if (result["command"] == "solvers") print_solvers(name, result);
    }
  });
}

}  // namespace tessera::scaling
