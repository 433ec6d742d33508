/// Projections and lines of windows on the chip, whose waves are kept as spectra, against plain
/// loops in double precision. One GPU, no MPI, no Kokkos.

#include "physics/hot_path_waves.cuh"

namespace tessera::physics::testing {
namespace {

struct Case {
  int n;
  int n_positions;
  int n_slots = 2;
  bool has_background = false;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.n_positions << " x " << c.n << "^2, " << c.n_slots << " slots"
       << (c.has_background ? ", background" : "");
}

/// Unnormalised spectra / n^2, one after another.
Numbers spectra_of(const Waves& waves, int n) {
  Numbers spectra;
  for (const WaveStack& of_position : waves)
    for (const auto& value : tessera::testing::dft(of_position, -1))
      spectra.push_back(value / double(n));
  return spectra;
}

/// In the chip's order.
void to_chip(const Numbers& spectra, int n, const OnDevice<Complex>& on_chip) {
  std::vector<Complex> unnormalised;
  for (const auto& value : spectra) unnormalised.emplace_back(value * double(n) * double(n));
  const OnDevice natural(unnormalised);
  const auto count = static_cast<int>(spectra.size()) / (n * n);
  hot_path::planes_to_chip(nullptr, n, count, natural.data(), on_chip.data());
  check(cudaDeviceSynchronize());
}

/// Back from it.
std::vector<Complex> from_chip(const OnDevice<Complex>& on_chip, int n) {
  const OnDevice natural(filled(on_chip.size(), 0));
  const auto count = static_cast<int>(on_chip.size()) / (n * n);
  hot_path::gather_planes(nullptr, n, count, on_chip.data(), natural.data());
  check(cudaDeviceSynchronize());
  return host(natural);
}

class HotPathSpectra : public HotPath, public ::testing::WithParamInterface<Case> {
 protected:
  void SetUp() override {
    HotPath::SetUp();
    if (!IsSkipped() && !HasFatalFailure() && !hot_path::keeps_spectra(c_.n, 1))
      GTEST_SKIP() << "windows do not fit on the chip";
  }
  Problem problem() const {
    Problem p = make_problem(c_.n, 1, c_.n_positions, c_.n_slots, 3000, false);
    if (c_.has_background) add_background(p, 3000);
    return p;
  }
  const Case c_ = GetParam();
};

void expect_projected(const Problem& p, const Map& map, bool bounded, bool stores_next = true) {
  SCOPED_TRACE(std::string(map.name) + (bounded ? ", bounded" : ""));
  const Waves kept_before = random_waves(p);
  const Projected expected = plain_projection(p, map, kept_before, bounded);
  Sums of_next = empty_sums(p);
  for (int k = begin; k < p.n_positions; ++k) add_waves(p, k, expected.next[p.order[k]], of_next);

  const OnGpu gpu{p};
  const std::size_t size = kept_before.size() * p.area();
  const OnDevice kept(poison(size));
  const OnDevice next(poison(size));
  to_chip(spectra_of(kept_before, p.n), p.n, kept);
  to_chip(spectra_of(kept_before, p.n), p.n, next);
  const OnDevice object_sum(filled(p.object.size(), 0.5F));
  const OnDevice dose(std::vector<float>(p.object.size(), 0.5F));
  const OnDevice background_slopes(std::vector<float>(2 * p.area(), 0.5F));
  hot_path::ChunkArrays chunk = gpu.chunk(begin);
  chunk.object_sum = object_sum.data();
  chunk.dose = dose.data();
  chunk.background_slopes = background_slopes.data();
  hot_path::project_and_add(
      nullptr, gpu.scan(), chunk,
      {stores_next ? next.data() : nullptr, map.keeps_another ? kept.data() : next.data(), nullptr,
       nullptr, expected.bound, static_cast<float>(map.of_overlap), static_cast<float>(map.of_kept),
       map.from_overlap, static_cast<float>(map.of_residual), static_cast<float>(map.keeps_new),
       static_cast<float>(map.keeps_base)});
  check(cudaDeviceSynchronize());
  EXPECT_LT(distance(host(object_sum), of_next.object), tolerance);
  EXPECT_LT(distance(host(dose), of_next.dose), tolerance);
  if (!p.background.empty())
    EXPECT_LT(distance(host(background_slopes), expected.slopes), tolerance);
  const Waves& stored = stores_next ? expected.next : kept_before;
  EXPECT_LT(distance(from_chip(next, p.n), spectra_of(stored, p.n)), tolerance);
  if (map.keeps_another)
    EXPECT_LT(distance(from_chip(kept, p.n), spectra_of(expected.kept, p.n)), tolerance);
  const std::vector<double> sums = host(gpu.sums);
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(sums[i] / expected.figures[i], 1, tolerance) << "sum " << i;
}

TEST_P(HotPathSpectra, ProjectionsAgreeWithPlainLoops) {
  Problem p = problem();
  p.saturation = 2500;
  for (const bool bounded : {true, false}) {
    expect_projected(p, difference_map, bounded);
    expect_projected(p, raar, bounded);
    expect_projected(p, raar, bounded, false);
    Problem spares_dark = p;
    spares_dark.dark_amplitude = dark;
    expect_projected(spares_dark, raar, bounded);
    Problem stabilised = p;
    stabilised.noise = Noise::stabilised;
    expect_projected(stabilised, raar, bounded);
  }
}

TEST_P(HotPathSpectra, ProbeGradientsAgreeWithPlainLoops) {
  const Problem p = problem();
  const Waves kept = random_waves(p);
  const OnDevice spectra(poison(kept.size() * p.area()));
  to_chip(spectra_of(kept, p.n), p.n, spectra);
  expect_probe_gradients_of(p, kept, [&](const auto& scan, const auto& chunk) {
    hot_path::add_kept_spectra(nullptr, scan, chunk, spectra.data());
  });
}

TEST_P(HotPathSpectra, ExitWavesAgreeWithPlainLoops) {
  const Problem p = problem();
  const OnGpu gpu{p};
  Waves by_place;
  Waves by_position(p.n_positions, WaveStack(1, {p.n, p.n}));
  for (int k = begin; k < p.n_positions; ++k) {
    by_place.push_back(Window(p, k).exit_waves(p.probes, p.object));
    by_position[p.order[k]] = by_place.back();
  }
  const OnDevice of_places(poison(by_place.size() * p.area()));
  const OnDevice of_positions(filled(by_position.size() * p.area(), 0));
  hot_path::find_spectra(nullptr, gpu.scan(), gpu.chunk(begin), 1, false, of_places.data());
  hot_path::find_spectra(nullptr, gpu.scan(), gpu.chunk(begin), -0.25F, true, of_positions.data());
  Numbers expected = spectra_of(by_position, p.n);
  for (auto& value : expected) value *= -0.25;
  EXPECT_LT(distance(from_chip(of_places, p.n), spectra_of(by_place, p.n)), tolerance);
  EXPECT_LT(distance(from_chip(of_positions, p.n), expected), tolerance);
}

void expect_plain_costs(const Problem& p, const Problem& direction) {
  SCOPED_TRACE(static_cast<int>(p.noise));
  const std::vector<float> times{-1.5F, -1, -0.5F, 0.25F, 0.5F, 1, 1.5F, 2};
  std::vector<double> expected = plain_costs(p, direction, times);
  expected.push_back(plain_slope(p, direction));
  const OnGpu gpu{p};
  const std::size_t size = static_cast<std::size_t>(p.n_positions - begin) * p.area();
  const OnDevice ahead(poison(size));
  const OnDevice behind(poison(size));
  const auto find = [&](float t, const OnDevice<Complex>& spectra) {
    const OnDevice object(along(p.object, t, direction.object));
    const OnDevice probes(along(p.probes, t, direction.probes));
    hot_path::ChunkArrays chunk = gpu.chunk(begin);
    chunk.object = object.data();
    chunk.probes = probes.data();
    hot_path::find_spectra(nullptr, gpu.scan(), chunk, static_cast<float>(p.n), false,
                           spectra.data());
    check(cudaDeviceSynchronize());
  };
  find(1, ahead);
  find(-1, behind);
  const OnDevice on_line(times);
  const OnDevice sums(std::vector<double>(hot_path::WavesOnLine::n_sums));
  hot_path::add_costs_on_chip(nullptr, gpu.scan(), gpu.chunk(begin),
                              {nullptr, ahead.data(), behind.data(), on_line.data(), sums.data()});
  check(cudaDeviceSynchronize());
  EXPECT_LT(distance(host(sums), expected), tolerance);
}

TEST_P(HotPathSpectra, CostsAlongALineAgreeWithPlainLoops) {
  Problem p = problem();
  p.saturation = 2500;
  const Problem direction = make_problem(c_.n, 1, c_.n_positions + 1, c_.n_slots, 1, true);
  for (const Noise noise : {Noise::amplitude, Noise::intensity, Noise::poisson}) {
    if (noise != Noise::amplitude && p.n_positions > 100) break;  // plain loops take their time
    p.noise = noise;
    expect_plain_costs(p, direction);
  }
}

INSTANTIATE_TEST_SUITE_P(Windows, HotPathSpectra,
                         ::testing::Values(Case{64, 7}, Case{128, 6}, Case{64, 7, 2, true},
                                           Case{128, 6, 2, true}, Case{128, 2, 1}));
// Enough positions that a block takes several in turn.
INSTANTIATE_TEST_SUITE_P(Runs, HotPathSpectra,
                         ::testing::Values(Case{64, 560, 30}, Case{128, 150, 9}));

}  // namespace
}  // namespace tessera::physics::testing
