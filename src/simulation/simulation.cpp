#include "simulation/simulation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/save.hpp"

#include "simulated_seeds.hpp"
#include "simulation_file.hpp"

namespace tessera::simulation {
namespace {

/// Contiguous, in rank order.
Share share_of(int n_positions, const comm::Communicator& comm) {
  auto begin = [&](int rank) {
    return static_cast<int>(static_cast<std::int64_t>(n_positions) * rank / comm.size());
  };
  return {begin(comm.rank()), begin(comm.rank() + 1)};
}

/// Scale patterns and beam to the mean counts asked for.
void scale_to_dose(ImageStack<double>& patterns, SimulatedScan& scan, double counts_per_pattern,
                   const comm::Communicator& comm) {
  std::vector<double> totals_here(static_cast<std::size_t>(patterns.n()));
  for (std::size_t i = 0; i < totals_here.size(); ++i) {
    const double* pattern = patterns.image(static_cast<int>(i));
    totals_here[i] = std::accumulate(pattern, pattern + patterns.shape().size(), 0.0);
  }
  // Summed in scan order and not by rank: the same bits on any number of ranks.
  const std::vector<double> totals = comm.all_gather(std::span<const double>(totals_here));
  const double mean =
      std::accumulate(totals.begin(), totals.end(), 0.0) / static_cast<double>(totals.size());
  const double factor = counts_per_pattern / mean;
  for (double& value : patterns) value *= factor;
  for (auto& value : scan.probe) value *= std::sqrt(factor);
  for (auto& value : scan.drift_modes) value *= std::sqrt(factor);
}

/// Clip all patterns at one level, which at most `fraction` of all pixels exceed. Found by
/// bisection of counts of pixels, which are the same on any number of ranks.
/// @return the level, a whole number or one that a float holds
double saturate(ImageStack<double>& patterns, double fraction, bool whole_numbers,
                const comm::Communicator& comm) {
  std::array max = {patterns.size() == 0 ? 0.0 : *std::ranges::max_element(patterns)};
  comm.maximum(max);
  std::array n_pixels = {static_cast<double>(patterns.size())};
  comm.sum(std::span<double>(n_pixels));
  double low = 0;
  double level = max[0];
  constexpr int n_halvings = 60;
  for (int i = 0; i < n_halvings; ++i) {
    const double middle = 0.5 * (low + level);
    std::array above = {static_cast<double>(
        std::ranges::count_if(patterns, [&](double value) { return value > middle; }))};
    comm.sum(std::span<double>(above));
    (above[0] <= fraction * n_pixels[0] ? level : low) = middle;
  }
  level = whole_numbers ? std::floor(level) : static_cast<double>(static_cast<float>(level));
  for (double& value : patterns) value = std::min(value, level);
  return level;
}

/// The narrowest type that holds all counts.
io::ElementType count_type(const ImageStack<double>& patterns, const comm::Communicator& comm) {
  std::array max = {patterns.size() == 0 ? 0.0 : *std::ranges::max_element(patterns)};
  comm.maximum(max);
  if (max[0] <= std::numeric_limits<std::uint16_t>::max()) return io::ElementType::u16;
  if (max[0] <= std::numeric_limits<std::uint32_t>::max()) return io::ElementType::u32;
  throw InputError(text("a pixel counts ", max[0],
                        ", more than 32 bits hold; use a smaller simulation.counts_per_pattern or "
                        "simulation.noise = \"none\""));
}

}  // namespace

void simulate(const deck::Deck& deck, const comm::Communicator& comm, const Log& log) {
  std::unique_ptr<SimulatedScan> planned;
  comm.together([&] { planned = std::make_unique<SimulatedScan>(plan_scan(deck)); });
  SimulatedScan& scan = *planned;
  const int n_positions = static_cast<int>(scan.positions_m.size());
  const Shape2 window = scan.windows.window;
  const Shape2 object = scan.windows.object;
  log.info(text("simulating ", n_positions, " patterns of ", window.h, " x ", window.w, ", object ",
                object.h, " x ", object.w, " pixels of ", scan.optics.pixel_m * 1e9, " nm in ",
                scan.slices.size(), scan.slices.size() == 1 ? " slice" : " slices"));
  comm.together([&] {
    if (comm.is_root())
      io::check_replaceable(deck.data.file, "data.file",
                            [](const io::File& file) { return file.has("truth/object"); });
  });
  const io::OutputLock only_writer(deck.data.file, comm);
  io::AtomicFile file(deck.data.file, file_bytes(scan), comm);

  const Share share = share_of(n_positions, comm);
  ImageStack<double> patterns;
  comm.together([&] { patterns = intensities(scan, share); });
  scale_to_dose(patterns, scan, deck.simulation.counts_per_pattern, comm);
  add_background(patterns, scan);
  const bool counting = deck.simulation.noise == "poisson";
  if (counting) count(patterns, share, seed_for(Purpose::noise, deck.simulation));
  if (deck.simulation.saturation_fraction > 0) {
    scan.saturation_counts =
        saturate(patterns, deck.simulation.saturation_fraction, counting, comm);
    log.info(text("saturated at ", *scan.saturation_counts, " counts"));
  }
  io::ElementType type = io::ElementType::f32;
  if (counting) {
    comm.together([&] { type = count_type(patterns, comm); });
  }
  spoil_bad_pixels(patterns, scan);

  write_simulation(file.partial_path(), deck, scan, patterns, share, type, comm);
  file.commit();
  log.info(text("wrote ", deck.data.file));
}

}  // namespace tessera::simulation
