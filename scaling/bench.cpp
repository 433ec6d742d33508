// One epoch against the bare transforms that it needs, in the same run. Checks itself: the error
// must fall.
//   tessera_bench [deck [key=value ...]]      without a deck: a simulated scan of the Siemens
//   star's size

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/core.h>

#include "tessera/app/run.hpp"
#include "tessera/app/simulation.hpp"
#include "tessera/base/error.hpp"
#include "tessera/deck/parse.hpp"

namespace {

using namespace tessera;

constexpr const char* simulated_deck = R"(
[data]
file = "bench_scan.h5"
[experiment]
energy_eV = 8800.0
distance_m = 1.9623693
detector_pixel_m = 75e-6
[probe]
initial = "aperture"
semi_angle_rad = 0.8e-3
defocus_m = 400e-6
[simulation]
scan = "fermat"
n_positions = 516
step_m = 300e-9
detector_shape = [128, 128]
)";

std::string contents(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw InputError(path + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

deck::Deck bench_deck(int argc, char** argv, const comm::Communicator& world) {
  if (argc > 1) {
    const std::vector<std::string> overrides(argv + 2, argv + argc);
    return deck::parse(contents(argv[1]), argv[1], overrides);
  }
  const auto folder = std::filesystem::temp_directory_path() / "tessera_bench";
  std::filesystem::create_directories(folder);
  deck::Deck deck = deck::parse(simulated_deck, (folder / "deck.toml").string(), {});
  app::simulate(deck, world, Log(false));
  return deck;
}

/// Median of five, after one that warms up.
template <class F>
double seconds(const F& f) {
  f();
  std::array<double, 5> runs{};
  for (double& run : runs) {
    const Kokkos::Timer timer;
    f();
    run = timer.seconds();
  }
  std::sort(runs.begin(), runs.end());
  return runs[2];
}

/// Forward and inverse in turn, on the chunk's own waves.
double transform_seconds(const app::Run& run, int n_positions, double n_per_position) {
  const physics::WavesView waves = run.model().waves();
  const device::Device exec;
  const fft::Plan plan(run.scan().info.pattern, fft::Planning::measured);
  const int chunk = run.model().chunk_size() * run.model().n_modes();
  const int n_pairs =
      static_cast<int>(std::lround(n_positions * run.model().n_modes() * n_per_position / 2));
  // Zeros stay zeros however often they are transformed; anything else would overflow without
  // scaling.
  Kokkos::deep_copy(waves, device::complex(0));
  return seconds([&] {
    for (int done = 0; done < n_pairs; done += chunk) {
      const int n = std::min(chunk, n_pairs - done);
      plan.forward(exec, waves.data(), n);
      plan.inverse(exec, waves.data(), n);
    }
  });
}

void bench(const deck::Deck& deck, const comm::Communicator& world) {
  app::Run run(deck, world, Log(true));
  const double before = run.run_epoch().error;
  const double epoch_s = seconds([&] { run.run_epoch(); });
  const double after = run.measure().error;
  if (!(after < before))
    throw SystemError("the error did not fall: the bench does not reconstruct");
  const int n = run.scan().n_positions();
  const double n_transforms = run.model().transforms_per_position();
  const double bare_s = transform_seconds(run, n, n_transforms);
  fmt::print("{} positions of {} x {}, {} mode(s), batch {}\n", n, run.scan().info.pattern.h,
             run.scan().info.pattern.w, run.model().n_modes(), deck.solver.batch_size);
  fmt::print("{:<44} {:>9.2f} ms\n",
             fmt::format("{:.2f} bare transforms per position and mode", n_transforms),
             1e3 * bare_s);
  fmt::print("{:<44} {:>9.2f} ms\n", "one epoch, everything included", 1e3 * epoch_s);
  fmt::print("{:<44} {:>9.2f}\n", "ratio", epoch_s / bare_s);
  fmt::print("{:<44} {:>9.2f}\n", "ratio to 2 transforms per position and mode",
             epoch_s / bare_s * n_transforms / 2);
}

}  // namespace

int main(int argc, char** argv) {
  comm::Environment environment(argc, argv);
  const comm::Communicator world;
  try {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    bench(bench_deck(argc, argv, world), world);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tessera_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
