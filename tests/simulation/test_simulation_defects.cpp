// What goes wrong in a simulated experiment is what the file's truth says, and as large as asked.

#include <numeric>

#include "support/simulated_file.hpp"

namespace tessera::simulation {
namespace {

using namespace testing;

TEST(Defects, AllOfThemAreTheSameOnAnyNumberOfRanks) {
  ScratchFile many("all_many");
  ScratchFile one("all_one");
  deck::Deck deck = small_simulation(many.path);
  deck.object.n_slices = 2;
  deck.object.slice_thickness_m = 1e-5;
  deck.experiment.fly_sub_positions = 2;
  deck.experiment.fly_travel_m = {1e-7, 0};
  deck.experiment.point_spread_px = 0.7;
  deck.simulation.noise = "poisson";
  deck.simulation.probe_drift = 0.3;
  deck.simulation.intensity_jitter = 0.1;
  deck.simulation.position_error_px = 1.5;
  deck.simulation.background_fraction = 0.2;
  deck.simulation.saturation_fraction = 0.03;
  simulate_quietly(deck);
  if (!world().is_root()) return;
  deck.data.file = one.path;
  simulate_quietly(deck, comm::Communicator(MPI_COMM_SELF));
  const io::File a = io::File::open(many.path);
  const io::File b = io::File::open(one.path);
  for (const char* name : {"patterns", "positions_m", "truth/positions_m", "truth/intensity",
                           "truth/background", "truth/opr_weights"})
    EXPECT_EQ(a.read_doubles(name), b.read_doubles(name)) << name;
  for (const char* name : {"truth/object", "truth/probe", "truth/opr_modes"})
    EXPECT_TRUE(std::ranges::equal(a.read_waves(name), b.read_waves(name))) << name;
  EXPECT_EQ(a.number_attribute("/", "saturation_counts"),
            b.number_attribute("/", "saturation_counts"));
}

TEST(Defects, ADriftingProbeIsTheFirstModeAndTwoMore) {
  ScratchFile scratch("drift");
  deck::Deck deck = small_simulation(scratch.path);
  deck.simulation.probe_drift = 0.4;
  simulate_quietly(deck);
  if (!world().is_root()) return;
  const Truth truth(scratch.path);
  const io::File file = io::File::open(scratch.path);
  const WaveStack modes = file.read_waves("truth/opr_modes");
  const std::vector<Vec2> weights = read_pairs(file, "truth/opr_weights");
  ASSERT_EQ(modes.n(), 2);
  EXPECT_EQ(weights.front(), (Vec2{-1, 0}));
  EXPECT_NEAR(weights[3].x, std::sin(2 * pi * 3 / 11), 1e-12);
  for (int mode = 0; mode < 2; ++mode) {
    Complex product;
    double power = 0;
    double first_power = 0;
    for (int i = 0; i < 256; ++i) {
      product += std::conj(truth.probe.data()[i]) * modes.image(mode)[i];
      power += std::norm(modes.image(mode)[i]);
      first_power += std::norm(truth.probe.data()[i]);
    }
    EXPECT_NEAR(power / first_power, 0.16, 1e-9);
    EXPECT_LT(std::abs(product) / first_power, 1e-9);
  }
  for (const int position : {0, 3, 11}) {
    WaveStack probe = truth.probe;
    for (int i = 0; i < 256; ++i)
      probe.data()[i] +=
          weights[position].y * modes.image(0)[i] + weights[position].x * modes.image(1)[i];
    expect_pattern(scratch.path, position,
                   plain_intensity(probe, truth.object, truth.corner_px[position]));
  }
}

TEST(Defects, TheBeamsCurrentScalesPatterns) {
  ScratchFile steady("steady");
  ScratchFile unsteady("unsteady");
  deck::Deck deck = small_simulation(steady.path);
  deck.simulation.n_positions = 200;
  simulate_quietly(deck);
  deck.data.file = unsteady.path;
  deck.simulation.intensity_jitter = 0.2;
  simulate_quietly(deck);
  if (!world().is_root()) return;
  const std::vector<double> intensity =
      io::File::open(unsteady.path).read_doubles("truth/intensity");
  const std::vector<double> a = io::File::open(steady.path).read_doubles("patterns");
  const std::vector<double> b = io::File::open(unsteady.path).read_doubles("patterns");
  auto total = [&](const std::vector<double>& patterns, int position) {
    const auto begin = patterns.begin() + position * 256;
    return std::accumulate(begin, begin + 256, 0.0);
  };
  const double scale = total(b, 0) / total(a, 0) / intensity[0];
  double squares = 0;
  for (int position = 0; position < 200; ++position) {
    EXPECT_NEAR(total(b, position) / total(a, position) / (scale * intensity[position]), 1, 1e-6);
    squares += std::pow(intensity[position] - 1, 2);
  }
  EXPECT_NEAR(std::accumulate(intensity.begin(), intensity.end(), 0.0) / 200, 1, 1e-12);
  EXPECT_NEAR(std::sqrt(squares / 200), 0.2, 0.02);
}

TEST(Defects, WrittenPositionsAreWrongByWhatWasAsked) {
  ScratchFile scratch("positions");
  deck::Deck deck = small_simulation(scratch.path);
  deck.simulation.n_positions = 300;
  deck.simulation.position_error_px = 1.5;
  simulate_quietly(deck);
  if (world().is_root()) {
    const Truth truth(scratch.path);
    const std::vector<Vec2> written = read_pairs(io::File::open(scratch.path), "positions_m");
    double squares = 0;
    for (std::size_t i = 0; i < 300; ++i)
      squares += std::pow((written[i].y - truth.positions_m[i].y) / truth.pixel_m, 2) +
                 std::pow((written[i].x - truth.positions_m[i].x) / truth.pixel_m, 2);
    EXPECT_NEAR(std::sqrt(squares / 300), 1.5, 0.1);
  }
  world().barrier();
  deck.simulation.position_error_px = 0;
  deck.simulation.position_affine = {0.02, -0.01, 0.03, 0.005};
  simulate_quietly(deck);
  if (!world().is_root()) return;
  const Truth truth(scratch.path);
  const std::vector<Vec2> written = read_pairs(io::File::open(scratch.path), "positions_m");
  // The way from one position to another, without the middle: turned after it was stretched.
  for (const int i : {1, 100, 299}) {
    const Vec2 way{truth.positions_m[i].y - truth.positions_m[0].y,
                   truth.positions_m[i].x - truth.positions_m[0].x};
    const Complex stretched(0.99 * way.x, 1.02 * way.y + 0.005 * way.x);
    const Complex turned = stretched * std::polar(1.0, 0.03);
    EXPECT_NEAR(written[i].x - written[0].x, turned.real(), 1e-18);
    EXPECT_NEAR(written[i].y - written[0].y, turned.imag(), 1e-18);
  }
}

TEST(Defects, WrittenPositionsKnowNothingOfADrift) {
  ScratchFile scratch("drift");
  deck::Deck deck = small_simulation(scratch.path);
  deck.simulation.position_drift_px = {1.5, -2};
  simulate_quietly(deck);
  if (!world().is_root()) return;
  const Truth truth(scratch.path);
  const std::vector<Vec2> written = read_pairs(io::File::open(scratch.path), "positions_m");
  for (const int i : {0, 4, 11}) {
    const double t = i / 11.0;
    const double way = 1 - (1 - t) * (1 - t);
    EXPECT_NEAR((truth.positions_m[i].y - written[i].y) / truth.pixel_m, 1.5 * way, 1e-9);
    EXPECT_NEAR((truth.positions_m[i].x - written[i].x) / truth.pixel_m, -2 * way, 1e-9);
  }
}

TEST(Defects, TheBackgroundIsAdded) {
  ScratchFile clean("clean");
  ScratchFile foggy("foggy");
  for (const char* propagation : {"far_field", "angular_spectrum"}) {
    deck::Deck deck = small_simulation(clean.path);
    deck.experiment.propagation = propagation;
    if (propagation[0] == 'a') deck.experiment.detector_pixel_m = 25e-9;
    simulate_quietly(deck);
    deck.data.file = foggy.path;
    deck.simulation.background_fraction = 0.25;
    simulate_quietly(deck);
    if (!world().is_root()) continue;
    const io::File file = io::File::open(foggy.path);
    const std::vector<double> background = file.read_doubles("truth/background");
    const std::vector<double> with = file.read_doubles("patterns");
    const std::vector<double> without = io::File::open(clean.path).read_doubles("patterns");
    EXPECT_NEAR(std::accumulate(background.begin(), background.end(), 0.0), 0.25 * 2e4, 1e-6);
    EXPECT_EQ(std::ranges::max_element(background) - background.begin(), 8 * 16 + 8);
    for (std::size_t i = 0; i < with.size(); ++i)
      EXPECT_NEAR(with[i], without[i] + background[i % 256], 1e-6 * with[i] + 1e-9);
  }
}

TEST(Defects, TheBrightestPixelsSaturateAtOneLevel) {
  ScratchFile clean("bright");
  ScratchFile clipped("clipped");
  for (const char* noise : {"none", "poisson"}) {
    deck::Deck deck = small_simulation(clean.path);
    deck.simulation.noise = noise;
    simulate_quietly(deck);
    deck.data.file = clipped.path;
    deck.simulation.saturation_fraction = 0.03;
    simulate_quietly(deck);
    if (!world().is_root()) continue;
    const io::File file = io::File::open(clipped.path);
    const double level = file.number_attribute("/", "saturation_counts").value_or(0);
    const std::vector<double> a = io::File::open(clean.path).read_doubles("patterns");
    const std::vector<double> b = file.read_doubles("patterns");
    const auto n = static_cast<double>(a.size());
    const auto above =
        static_cast<double>(std::ranges::count_if(a, [&](double v) { return v > level; }));
    EXPECT_LE(above / n, 0.03);
    EXPECT_GT(above / n, 0.028);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(b[i], std::min(a[i], level));
  }
}

TEST(Defects, ThePointSpreadIsAPeriodicGaussian) {
  ScratchFile sharp("sharp");
  ScratchFile blurred("blurred");
  deck::Deck deck = small_simulation(sharp.path);
  simulate_quietly(deck);
  deck.data.file = blurred.path;
  deck.experiment.point_spread_px = 1.5;
  simulate_quietly(deck);
  if (!world().is_root()) return;
  const std::vector<double> a = io::File::open(sharp.path).read_doubles("patterns");
  const std::vector<double> b = io::File::open(blurred.path).read_doubles("patterns");
  const double max = *std::ranges::max_element(b);
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 16; ++x) {
      double expected = 0;
      for (int dy = -8; dy <= 8; ++dy)
        for (int dx = -8; dx <= 8; ++dx)
          expected += a[(y + dy + 16) % 16 * 16 + (x + dx + 16) % 16] *
                      std::exp(-(dy * dy + dx * dx) / (2 * 1.5 * 1.5)) / (2 * pi * 1.5 * 1.5);
      EXPECT_NEAR(b[y * 16 + x] / max, expected / max, 1e-5);
    }
}

}  // namespace
}  // namespace tessera::simulation
