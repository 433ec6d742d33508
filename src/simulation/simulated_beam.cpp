#include "simulated_beam.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "tessera/optics/start_probe.hpp"

#include "optics/deck_optics.hpp"
#include "optics/host_propagation.hpp"
#include "simulated_seeds.hpp"

namespace tessera::simulation {
namespace {

/// Multiply by exp(i phase) of a random, smooth phase.
void pass_diffuser(WaveStack& probe, const deck::Simulation& simulation) {
  constexpr double smooth_px = 2;
  const std::uint64_t seed = seed_for(Purpose::diffuser, simulation);
  WaveStack phase(1, probe.shape());
  for (std::size_t i = 0; i < phase.size(); ++i) phase.data()[i] = random_unit(seed, i) - 0.5;
  optics::blur(phase, smooth_px);
  double squares = 0;
  for (const auto& value : phase) squares += value.real() * value.real();
  const double factor =
      simulation.diffuser_rad / std::sqrt(squares / static_cast<double>(phase.size()));
  for (std::size_t i = 0; i < phase.size(); ++i)
    probe.data()[i] *= std::polar(1.0, factor * phase.data()[i].real());
}

}  // namespace

WaveStack true_probe(const deck::Deck& deck, Shape2 window, const geometry::Optics& optics) {
  deck::Probe truth = deck.probe;
  truth.defocus_m += deck.simulation.defocus_offset_m;
  WaveStack probe = optics::optical_probe(truth, window, optics);
  if (deck.simulation.diffuser_rad > 0) pass_diffuser(probe, deck.simulation);
  const int n_extra = std::max(1, truth.n_modes - 1);
  return optics::with_extra_modes(probe, truth.n_modes, deck.simulation.mode_power / n_extra);
}

WaveStack drift_modes(const WaveStack& probe, double drift) {
  WaveStack modes(drift > 0 ? 2 : 0, probe.shape());
  if (modes.n() == 0) return modes;
  WaveStack first(1, probe.shape());
  std::copy(probe.image(0), probe.image(1), first.begin());
  const WaveStack three = optics::with_extra_modes(first, 3, 1.0 / 3);
  // Of three equal parts of the first mode's power each has a third.
  std::transform(three.image(1), three.image(3), modes.begin(),
                 [&](const auto& value) { return drift * std::numbers::sqrt3 * value; });
  return modes;
}

std::vector<Vec2> drift_weights(std::size_t n_positions) {
  std::vector<Vec2> weights;
  for (std::size_t i = 0; i < n_positions; ++i) {
    const double t =
        static_cast<double>(i) / static_cast<double>(std::max<std::size_t>(1, n_positions - 1));
    weights.push_back({2 * t - 1, std::sin(2 * std::numbers::pi * t)});
  }
  return weights;
}

std::vector<double> beam_intensity(const deck::Simulation& simulation, std::size_t n_positions) {
  const std::uint64_t seed = seed_for(Purpose::intensity, simulation);
  std::vector<double> intensity(n_positions);
  // Uniform in +-a has a standard deviation of a / sqrt(3).
  for (std::size_t i = 0; i < n_positions; ++i)
    intensity[i] =
        1 + std::numbers::sqrt3 * simulation.intensity_jitter * (2 * random_unit(seed, i) - 1);
  const double mean =
      std::accumulate(intensity.begin(), intensity.end(), 0.0) / static_cast<double>(n_positions);
  for (double& value : intensity) value /= mean;
  return intensity;
}

}  // namespace tessera::simulation
