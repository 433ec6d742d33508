#include "simulated_scan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tessera/app/experiment.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/random.hpp"
#include "tessera/base/text.hpp"
#include "tessera/deck/check.hpp"
#include "tessera/physics/start_probe.hpp"

namespace tessera::app {
namespace {

/// Each use of the seed has numbers of its own.
enum Purpose : std::uint64_t { for_jitter = 1, for_sample = 2, for_dead_pixels = 3 };

std::vector<Vec2> scan_positions(const deck::Simulation& simulation) {
  const int n = simulation.n_positions;
  const double step_m = simulation.step_m;
  std::vector<Vec2> positions_m;
  if (simulation.scan == "raster") {
    const int rows = std::max(1, static_cast<int>(std::lround(std::sqrt(n))));
    const int columns = (n + rows / 2) / rows;
    positions_m = geometry::raster_scan(rows, columns, {step_m, step_m});
  } else if (simulation.scan == "fermat") {
    positions_m = geometry::fermat_scan(n, step_m);
  } else if (simulation.scan == "concentric") {
    positions_m = geometry::concentric_scan(n, step_m);
  } else {
    throw InputError(text("simulation.scan = '", simulation.scan,
                          "' is not known; use 'raster', 'fermat' or 'concentric'"));
  }
  geometry::jitter(positions_m, simulation.jitter * step_m,
                   random_bits(simulation.seed, for_jitter));
  return positions_m;
}

WaveStack true_probe(const deck::Deck& deck, Shape2 window, const geometry::Optics& optics) {
  deck::Probe truth = deck.probe;
  truth.defocus_m += deck.simulation.defocus_offset_m;
  const int n_extra = std::max(1, truth.n_modes - 1);
  return physics::with_extra_modes(optical_probe(truth, window, optics), truth.n_modes,
                                   deck.simulation.mode_power / n_extra);
}

/// The pixels with the smallest random numbers are the bad ones; every second of them is hot.
void choose_dead_pixels(const deck::Deck& deck, SimulatedScan& scan) {
  std::vector<std::size_t> order(scan.valid_pixels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::uint64_t seed = random_bits(deck.simulation.seed, for_dead_pixels);
  std::ranges::sort(order, {}, [&](std::size_t pixel) { return random_bits(seed, pixel); });
  const auto n_dead = static_cast<std::size_t>(
      std::lround(deck.simulation.dead_pixel_fraction * static_cast<double>(order.size())));
  for (std::size_t i = 0; i < n_dead; ++i) {
    scan.valid_pixels.data()[order[i]] = 0;
    scan.hot_pixels.data()[order[i]] = i % 2;
  }
}

}  // namespace

SimulatedScan plan_scan(const deck::Deck& deck) {
  const deck::Simulation& simulation = deck.simulation;
  deck::check(deck);
  deck::check_simulation(deck);
  const Shape2 detector{simulation.detector_shape[0], simulation.detector_shape[1]};
  const geometry::Optics optics = far_field_optics(deck.experiment, detector);
  std::vector<Vec2> positions_m = scan_positions(simulation);
  geometry::WindowGrid windows = geometry::lay_windows(positions_m, detector, optics.pixel_m);
  const Phantom sample(simulation.object, windows.object, detector, simulation.phase_rad,
                       simulation.absorption, random_bits(simulation.seed, for_sample));
  SimulatedScan scan{optics,
                     std::move(positions_m),
                     std::move(windows),
                     sample,
                     true_probe(deck, detector, optics),
                     ImageStack<std::uint8_t>(1, detector, 1),
                     ImageStack<std::uint8_t>(1, detector, 0)};
  choose_dead_pixels(deck, scan);
  return scan;
}

}  // namespace tessera::app
