/// The fused CUDA kernels of waves that are kept, and of what directions change in them, against
/// plain loops in double precision. One GPU, no MPI, no Kokkos.

#include "physics/hot_path_waves.cuh"

namespace tessera::physics::testing {
namespace {

struct Case {
  int n;
  int n_modes;
  int n_positions;
  int n_slots = 2;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.n_positions << " x " << c.n << "^2, " << c.n_modes << " modes, " << c.n_slots
       << " slots";
}

/// As the kernels keep them.
std::vector<Complex> row_spectra(const Waves& waves, int n) {
  std::vector<Complex> spectra;
  for (const WaveStack& of_position : waves)
    for (const auto& value : tessera::testing::dft_rows(of_position, -1))
      spectra.emplace_back(value / std::sqrt(n));
  return spectra;
}

Problem problem(const Case& c) {
  Problem p = make_problem(c.n, c.n_modes, c.n_positions, c.n_slots, 3000, false);
  if (c.n_modes > 1) add_background(p, 3000);
  return p;
}

class HotPathKept : public HotPath, public ::testing::WithParamInterface<Case> {
 protected:
  const Case c_ = GetParam();
  const Problem p_ = problem(c_);
};

void expect_projected(const Problem& p, const Map& map) {
  SCOPED_TRACE(map.name);
  const Waves kept_before = random_waves(p);
  const Projected expected = plain_projection(p, map, kept_before);

  const OnGpu gpu{p};
  const int count = p.n_positions - begin;
  const OnDevice kept_spectra(row_spectra(kept_before, p.n));
  const OnDevice next_spectra(row_spectra(kept_before, p.n));
  const OnDevice waves(poison(static_cast<std::size_t>(count * p.n_modes) * p.area()));
  const OnDevice factor(std::vector<float>(count * p.area()));
  const OnDevice distance{std::vector<double>(count)};
  Complex* const stored = map.keeps_another ? kept_spectra.data() : next_spectra.data();
  const OnDevice background_slopes(std::vector<float>(2 * p.area(), 0.5F));
  hot_path::ChunkArrays chunk = gpu.chunk(begin);
  chunk.background_slopes = background_slopes.data();
  hot_path::project(nullptr, gpu.scan(), chunk,
                    {next_spectra.data(), stored, factor.data(), distance.data(), expected.bound,
                     static_cast<float>(map.of_overlap), static_cast<float>(map.of_kept),
                     map.from_overlap, static_cast<float>(map.of_residual),
                     static_cast<float>(map.keeps_new), static_cast<float>(map.keeps_base)},
                    waves.data());
  check(cudaDeviceSynchronize());
  EXPECT_LT(testing::distance(host(distance), expected.distances), tolerance);
  if (!p.background.empty())
    EXPECT_LT(testing::distance(host(background_slopes), expected.slopes), tolerance);
  EXPECT_LT(testing::distance(host(next_spectra), row_spectra(expected.next, p.n)), tolerance);
  if (map.keeps_another)
    EXPECT_LT(testing::distance(host(kept_spectra), row_spectra(expected.kept, p.n)), tolerance);
  const std::vector<double> sums = host(gpu.sums);
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(sums[i] / expected.figures[i], 1, tolerance) << "sum " << i;
}

TEST_P(HotPathKept, ProjectionsAgreeWithPlainLoops) {
  expect_projected(p_, difference_map);
  expect_projected(p_, raar);
  Problem p = p_;
  p.dark_amplitude = dark;
  expect_projected(p, raar);
  Problem stabilised = p_;
  stabilised.noise = Noise::stabilised;
  expect_projected(stabilised, difference_map);
}

TEST_P(HotPathKept, GradientsAgreeWithPlainLoops) {
  const Waves kept = random_waves(p_);
  const OnDevice spectra(row_spectra(kept, p_.n));
  expect_gradients_of(p_, kept, [&](const auto& scan, const auto& chunk) {
    hot_path::add_kept(nullptr, scan, chunk, spectra.data());
  });
}

TEST_P(HotPathKept, ProductsAgreeWithPlainLoops) {
  // Directions are any object and probes of the same shape.
  Problem other = make_problem(c_.n, c_.n_modes, c_.n_positions + 1, c_.n_slots, 1, true);
  const int count = p_.n_positions - begin;
  std::vector<double> expected(5 * count);
  double unused[5] = {};
  for (int k = begin; k < p_.n_positions; ++k) {
    const Window window(p_, k);
    const WaveStack missing = missing_waves(p_, k, unused);
    const WaveStack u = window.exit_waves(p_.probes, other.object);
    const WaveStack v = window.exit_waves(other.probes, p_.object);
    double* const product = &expected[5 * (k - begin)];
    for (std::size_t i = 0; i < missing.size(); ++i) {
      const auto chi = missing.data()[i];
      product[0] += std::norm(u.data()[i]);
      product[1] += (std::conj(u.data()[i]) * v.data()[i]).real();
      product[2] += std::norm(v.data()[i]);
      product[3] += (std::conj(u.data()[i]) * chi).real();
      product[4] += (std::conj(v.data()[i]) * chi).real();
    }
  }
  const OnGpu gpu{p_};
  const OnDevice object_sum(filled(p_.object.size(), 0));
  const OnDevice object_direction(other.object);
  const OnDevice probe_directions(other.probes);
  const OnDevice products(std::vector<double>(5 * count));
  const OnDevice waves(poison(static_cast<std::size_t>(count * p_.n_modes) * p_.area()));
  hot_path::ChunkArrays chunk = gpu.chunk(begin);
  chunk.object_sum = object_sum.data();
  hot_path::add_gradients_and_keep(nullptr, gpu.scan(), chunk, waves.data());
  hot_path::add_products(nullptr, gpu.scan(), chunk,
                         {object_direction.data(), probe_directions.data(), products.data()},
                         waves.data());
  check(cudaDeviceSynchronize());
  EXPECT_LT(distance(host(products), expected), tolerance);
}

/// @param direction of the same shapes
void expect_plain_costs(const Problem& p, const Problem& direction) {
  SCOPED_TRACE(static_cast<int>(p.noise));
  const std::vector<float> times{-1.5F, -1, -0.5F, 0.25F, 0.5F, 1, 1.5F, 2};
  std::vector<double> expected = plain_costs(p, direction, times);
  expected.push_back(plain_slope(p, direction));
  const OnGpu gpu{p};
  const auto size = static_cast<std::size_t>((p.n_positions - begin) * p.n_modes) * p.area();
  const OnDevice here(poison(size));
  const OnDevice ahead(poison(size));
  const OnDevice behind(poison(size));
  const auto find_rows = [&](float t, const OnDevice<Complex>& waves) {
    const OnDevice object(along(p.object, t, direction.object));
    const OnDevice probes(along(p.probes, t, direction.probes));
    hot_path::ChunkArrays chunk = gpu.chunk(begin);
    chunk.object = object.data();
    chunk.probes = probes.data();
    hot_path::exit_rows(nullptr, gpu.scan(), chunk, waves.data());
    check(cudaDeviceSynchronize());
  };
  find_rows(0, here);
  find_rows(1, ahead);
  find_rows(-1, behind);
  const OnDevice on_line(times);
  const OnDevice sums(std::vector<double>(hot_path::WavesOnLine::n_sums));
  hot_path::add_costs(nullptr, gpu.scan(), gpu.chunk(begin),
                      {here.data(), ahead.data(), behind.data(), on_line.data(), sums.data()});
  check(cudaDeviceSynchronize());
  EXPECT_LT(distance(host(sums), expected), tolerance);
}

TEST_P(HotPathKept, CostsAlongALineAgreeWithPlainLoops) {
  Problem p = p_;
  p.saturation = 2500;
  const Problem direction = make_problem(c_.n, c_.n_modes, c_.n_positions + 1, c_.n_slots, 1, true);
  for (const Noise noise : {Noise::amplitude, Noise::intensity, Noise::poisson}) {
    p.noise = noise;
    expect_plain_costs(p, direction);
  }
}

INSTANTIATE_TEST_SUITE_P(Windows, HotPathKept,
                         ::testing::Values(Case{32, 1, 9}, Case{64, 1, 7}, Case{128, 1, 6},
                                           Case{256, 1, 4}, Case{512, 1, 3}, Case{1024, 1, 3}));
INSTANTIATE_TEST_SUITE_P(Modes, HotPathKept,
                         ::testing::Values(Case{32, 3, 5}, Case{64, 12, 4}, Case{128, 3, 5},
                                           Case{256, 2, 3}, Case{512, 4, 3}));
// Enough positions that a block takes several in turn.
INSTANTIATE_TEST_SUITE_P(Runs, HotPathKept,
                         ::testing::Values(Case{32, 1, 2000, 7}, Case{32, 3, 1500, 700},
                                           Case{128, 1, 400, 9}));

}  // namespace
}  // namespace tessera::physics::testing
