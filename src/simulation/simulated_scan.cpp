#include "simulated_scan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tessera/optics/host_fft.hpp"

#include "deck/check.hpp"
#include "optics/deck_optics.hpp"
#include "optics/host_propagation.hpp"
#include "simulated_beam.hpp"
#include "simulated_positions.hpp"
#include "simulated_seeds.hpp"

namespace tessera::simulation {
namespace {

void plan_sample(const deck::Deck& deck, SimulatedScan& scan) {
  const deck::Simulation& simulation = deck.simulation;
  const geometry::WindowGrid& windows = scan.windows;
  const std::uint64_t seed = seed_for(Purpose::sample, simulation);
  if (Crystal::has(simulation.object))
    scan.crystal = std::make_shared<const Crystal>(
        simulation.object, windows.object, windows.window, scan.optics.pixel_m,
        deck.object.n_slices, simulation.n_dopants, seed);
  for (int slice = 0; slice < deck.object.n_slices; ++slice)
    scan.slices.push_back(
        scan.crystal ? Phantom(scan.crystal, slice, simulation.phase_rad, simulation.absorption)
                     : Phantom(simulation.object, windows.object, windows.window,
                               simulation.phase_rad, simulation.absorption, seed, slice));
}

void plan_propagation(const deck::Deck& deck, SimulatedScan& scan) {
  const Shape2 window = scan.windows.window;
  const std::vector<double>& tilt_rad = deck.experiment.beam_tilt_rad;
  for (const double distance_m : deck.object.distances_m())
    scan.to_next_slice.push_back(
        optics::slice_propagator(window, scan.optics, distance_m,
                                 tilt_rad.empty() ? Vec2{} : Vec2{tilt_rad[0], tilt_rad[1]}));
  if (scan.optics.is_near_field())
    scan.to_detector = optics::near_field_propagator(window, scan.optics,
                                                     deck.experiment.propagation == "fresnel");
}

/// A floor and as much again in a wide blob around the beam.
ImageStack<double> background_of(const deck::Deck& deck, const SimulatedScan& scan) {
  const Shape2 shape = scan.windows.window;
  const double counts = deck.simulation.background_fraction * deck.simulation.counts_per_pattern;
  if (counts == 0) return {};
  const Pixel centre{shape.h / 2, shape.w / 2};
  ImageStack<double> background(1, shape);
  for (int y = 0; y < shape.h; ++y)
    for (int x = 0; x < shape.w; ++x) {
      const double r2 =
          std::pow(4.0 * (y - centre.y) / shape.h, 2) + std::pow(4.0 * (x - centre.x) / shape.w, 2);
      background(0, y, x) = 0.2 + std::exp(-r2 / 2);
    }
  const double total = std::accumulate(background.begin(), background.end(), 0.0);
  for (double& value : background) value *= counts / total;
  // From [h/2, w/2] to where zero frequency is.
  if (scan.optics.is_near_field()) return background;
  ImageStack<double> corner(1, shape);
  for (int y = 0; y < shape.h; ++y)
    for (int x = 0; x < shape.w; ++x)
      corner(0, y, x) = background(0, (y + centre.y) % shape.h, (x + centre.x) % shape.w);
  return corner;
}

/// The pixels with the smallest random numbers are the bad ones; every second of them is hot.
void choose_dead_pixels(const deck::Deck& deck, SimulatedScan& scan) {
  scan.valid_pixels = ImageStack<std::uint8_t>(1, scan.windows.window, 1);
  scan.hot_pixels = ImageStack<std::uint8_t>(1, scan.windows.window, 0);
  std::vector<std::size_t> order(scan.valid_pixels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::uint64_t seed = seed_for(Purpose::dead_pixels, deck.simulation);
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
  SimulatedScan scan;
  scan.experiment = deck.experiment;
  scan.optics = optics::optics_of(deck.experiment, detector);
  const double pixel_m = scan.optics.pixel_m;
  scan.positions_m = true_positions_m(simulation);
  scan.recorded_positions_m = recorded_positions_m(simulation, scan.positions_m, pixel_m);
  scan.windows = geometry::lay_windows(scan.positions_m, detector, pixel_m,
                                       optics::window_margin_px(deck, pixel_m));
  scan.fly_offsets_px = fly_offsets_px(deck.experiment, pixel_m);
  plan_sample(deck, scan);
  plan_propagation(deck, scan);
  scan.probe = true_probe(deck, detector, scan.optics);
  scan.drift_modes = drift_modes(scan.probe, simulation.probe_drift);
  scan.drift_weights = drift_weights(scan.positions_m.size());
  scan.intensity = beam_intensity(simulation, scan.positions_m.size());
  scan.background = background_of(deck, scan);
  choose_dead_pixels(deck, scan);
  return scan;
}

}  // namespace tessera::simulation
