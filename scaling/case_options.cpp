#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include <nlohmann/json.hpp>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/device/gpu.hpp"

#include "commands.hpp"
#include "run/run.hpp"
#include "synthetic_scan.hpp"

namespace tessera::scaling {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name") && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  return "unknown processor";
}

}  // namespace

std::string machine_name(const comm::Communicator& comm) {
  const std::optional<device::Gpu> gpu = device::use_gpu(comm.local_rank());
  if (gpu) return gpu->name;
  return text(std::thread::hardware_concurrency(), " cores, ", processor_name());
}

deck::Deck deck_of(CaseOptions& options, const comm::Communicator& comm) {
  options.scan.raster = {options.raster.at(0), options.raster.at(1)};
  deck::Deck deck;
  comm.together([&] {
    deck = synthetic_deck(options.scan, options.overrides);
    if (!deck.solvers.front().batch_size)
      throw InputError(
          "solver.batch_size = \"auto\": a benchmark says how large its batches are; give a "
          "number");
  });
  return deck;
}

BareTransforms bare_transforms_of(const run::Run& run, const deck::Deck& deck, int n_ranks) {
  const auto n_positions = static_cast<int>(run.scan().tile().positions.size());
  const int batch_size = deck.solvers.front().batch_size.value();
  const int batch = batch_size > 0 ? (batch_size - 1) / n_ranks + 1 : n_positions;
  const int chunk = std::max(1, std::min({n_positions, batch, run.model().chunk_size()}));
  const Shape2 window = run.scan().info.pattern;
  const physics::WavesView waves("tessera::scaling::waves", chunk, run.model().n_modes(), window.h,
                                 window.w);
  return BareTransforms(device::Device(), waves, n_positions);
}

nlohmann::json case_json(const std::string& command, const CaseOptions& options,
                         const deck::Deck& deck, int n_ranks) {
  return {{"command", command},
          {"ranks", n_ranks},
          {"real_bytes", sizeof(Real)},
          {"on_gpu", !device::device_is_host},
          {"raster", options.raster},
          {"positions", options.scan.raster.size()},
          {"window_px", options.scan.window_px},
          {"step_px", options.scan.step_px},
          {"modes", deck.probe.n_modes},
          {"batch_size", deck.solvers.front().batch_size.value()},
          {"batch_order", deck.solvers.front().batch_order},
          {"overrides", options.overrides},
          {"timed_epochs", options.n_epochs}};
}

void write_json(const std::string& path, const nlohmann::json& json,
                const comm::Communicator& comm) {
  comm.together([&] {
    if (path.empty() || !comm.is_root()) return;
    const auto folder = std::filesystem::path(path).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder);
    std::ofstream file(path);
    file << json.dump(2) << "\n";
    if (!file.flush())
      throw SystemError(text("--json ", path, " cannot be written; name a file that can"));
  });
}

}  // namespace tessera::scaling
