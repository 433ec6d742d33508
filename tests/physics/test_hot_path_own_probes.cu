/// The fused CUDA kernel of places with probes for themselves against plain loops in double
/// precision. One GPU, no MPI, no Kokkos.

#include "physics/hot_path_device.cuh"
#include "physics/hot_path_own_problem.hpp"

namespace tessera::physics::testing {
namespace {

/// What the kernel adds besides `Sums`, by place of the chunk.
struct OwnSums {
  std::vector<Numbers> planes;
  std::vector<double> of_spectrum;
  std::vector<double> of_opr;
  std::vector<double> moves;
  std::vector<double> of_object;
};

/// Re <a, b>
double product(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (std::conj(a[i]) * b[i]).real();
  return sum;
}

/// SpectrumSlopes and OprSlopes of place k. @param s spectrum of mode m of its slot's sum
void add_spectrum_sums(const OwnProblem& own, int k, int m, const Numbers& s, OwnSums& sums) {
  const OwnCase& c = own.c;
  const auto place = static_cast<std::size_t>(k - begin);
  const Numbers d = own.spectrum(k, m);
  for (int i = 0; i < c.n * c.n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double turned = (std::conj(std::complex<double>(0, 1) * d[at]) * s[at]).real();
    sums.of_spectrum[4 * place] += own.wave_number(i / c.n) * turned;
    sums.of_spectrum[4 * place + 1] += own.wave_number(i % c.n) * turned;
    for (int plane = 0; plane < c.n_modes + c.n_opr; ++plane)
      if (plane == m || (m == 0 && plane >= c.n_modes))
        sums.planes[static_cast<std::size_t>(plane)][at] +=
            own.weight(k, plane) * std::conj(own.ramp(k, i)) * s[at];
  }
  sums.of_spectrum[4 * place + 2] += product(d, s);
  sums.of_spectrum[4 * place + 3] += product(d, d);
  for (int opr = 0; m == 0 && opr < c.n_opr; ++opr) {
    Numbers of_mode = own.moved_plane(k, c.n_modes + opr);
    for (auto& value : of_mode) value *= own.amplitude(k);
    const std::size_t at = 2 * (place * static_cast<std::size_t>(c.n_opr) + opr);
    sums.of_opr[at] += product(of_mode, s);
    sums.of_opr[at + 1] += product(of_mode, of_mode);
  }
}

/// ObjectMoves and ObjectInBeam of place k.
void add_object_sums(const OwnProblem& own, int k, OwnSums& sums) {
  const Problem& p = own.p;
  const Window window(p, k);
  const WaveStack lit = window.lit(p.probes);
  const auto place = static_cast<std::size_t>(k - begin);
  const auto object = [&](int y, int x) {
    return std::complex<double>(p.object[window.in_object(y, x)]);
  };
  for (int m = 0; m < p.n_modes; ++m)
    for (int y = 0; y < p.n; ++y)
      for (int x = 0; x < p.n; ++x) {
        const double power = std::norm(lit(m, y, x));
        sums.of_object[2 * place] += power * std::norm(object(y, x));
        sums.of_object[2 * place + 1] += power;
        if (y == 0 || x == 0 || y == p.n - 1 || x == p.n - 1) continue;
        sums.moves[2 * place] += power * std::norm(object(y + 1, x) - object(y - 1, x)) / 4;
        sums.moves[2 * place + 1] += power * std::norm(object(y, x + 1) - object(y, x - 1)) / 4;
      }
}

class HotPathOwnProbes : public HotPath, public ::testing::WithParamInterface<OwnCase> {};

TEST_P(HotPathOwnProbes, AgreeWithPlainLoops) {
  const OwnCase c = GetParam();
  if (!hot_path::fits_on_chip(c.n, c.n_modes)) GTEST_SKIP() << "windows do not fit on the chip";
  const OwnProblem own(c);
  const Problem& p = own.p;
  const int n_planes = c.n_modes + c.n_opr;
  const auto n_places = static_cast<std::size_t>(p.n_positions - begin);
  Sums expected{Numbers(p.object.size()), std::vector<double>(p.object.size()),
                Numbers(p.probes.size()), std::vector<double>(p.area())};
  OwnSums expected_own{std::vector<Numbers>(static_cast<std::size_t>(n_planes), Numbers(p.area())),
                       std::vector<double>(4 * n_places),
                       std::vector<double>(2 * n_places * static_cast<std::size_t>(c.n_opr)),
                       std::vector<double>(2 * n_places), std::vector<double>(2 * n_places)};
  std::vector<double> overlap(p.area());
  for (int k = begin; k < p.n_positions; ++k) {
    expected.overlap.assign(p.area(), 0);
    add_place(p, k, expected);
    for (std::size_t i = 0; i < overlap.size(); ++i)
      overlap[i] += std::pow(own.amplitude(k), 2) * expected.overlap[i];
    add_object_sums(own, k, expected_own);
    for (int m = 0; m < c.n_modes; ++m) {
      const auto first = expected.slots.begin() + static_cast<std::ptrdiff_t>((k * c.n_modes + m)) *
                                                      static_cast<std::ptrdiff_t>(p.area());
      const Numbers image(first, first + static_cast<std::ptrdiff_t>(p.area()));
      add_spectrum_sums(own, k, m, fft_2d(image, c.n, -1), expected_own);
    }
  }
  Numbers expected_planes;
  for (int plane = 0; plane < n_planes; ++plane) {
    const auto at = static_cast<std::size_t>(plane);
    expected_planes.insert(expected_planes.end(), expected_own.planes[at].begin(),
                           expected_own.planes[at].end());
  }

  const std::vector<Complex> spectra = own.spectra();

  const OnGpu gpu{p};
  const OnDevice intensity(own.intensity);
  const OnDevice shift(own.shift);
  const OnDevice opr_weight(own.opr_weight);
  const OnDevice spectrum(spectra);
  const OnDevice on_chip(poison(spectra.size()));
  const OnDevice kept(poison(static_cast<std::size_t>(hot_path::kept_on_chip())));
  const OnDevice object_sum(filled(p.object.size(), 0));
  const OnDevice dose(std::vector<float>(p.object.size()));
  const OnDevice chip_sum(filled(spectra.size(), 0));
  const OnDevice plane_sums(filled(spectra.size(), 0));
  const OnDevice overlap_sum(std::vector<float>(p.area()));
  const OnDevice of_spectrum(std::vector<double>(4 * n_places));
  const OnDevice of_opr(std::vector<double>(expected_own.of_opr.size()));
  const OnDevice moves(std::vector<double>(2 * n_places));
  const OnDevice of_object(std::vector<double>(2 * n_places));
  hot_path::ScanArrays scan = gpu.scan();
  scan.slot = nullptr;
  scan.own_slots = true;
  scan.intensity = intensity.data();
  hot_path::ChunkArrays chunk = gpu.chunk(begin);
  chunk.probes = nullptr;
  chunk.object_sum = object_sum.data();
  chunk.dose = dose.data();
  chunk.slot_sums = c.moves_probe ? chip_sum.data() : nullptr;
  chunk.overlap = c.moves_probe ? overlap_sum.data() : nullptr;
  hot_path::planes_to_chip(nullptr, c.n, n_planes, spectrum.data(), on_chip.data());
  hot_path::add_gradients_of_own_probes(nullptr, scan, chunk,
                                        {shift.data(), on_chip.data(), kept.data()},
                                        {c.n_opr, opr_weight.data(), of_spectrum.data(),
                                         of_opr.data(), moves.data(), of_object.data()});
  hot_path::gather_planes(nullptr, c.n, n_planes, chip_sum.data(), plane_sums.data());
  check(cudaDeviceSynchronize());

  EXPECT_LT(distance(host(object_sum), expected.object), tolerance);
  EXPECT_LT(distance(host(dose), expected.dose), tolerance);
  const std::vector<double> figures = host(gpu.sums);
  for (int i = 0; i < 5; ++i)
    EXPECT_NEAR(figures[i] / expected.figures[i], 1, tolerance) << "sum " << i;
  EXPECT_LT(distance(host(of_spectrum), expected_own.of_spectrum), tolerance);
  if (c.n_opr > 0) EXPECT_LT(distance(host(of_opr), expected_own.of_opr), tolerance);
  EXPECT_LT(distance(host(moves), expected_own.moves), tolerance);
  EXPECT_LT(distance(host(of_object), expected_own.of_object), tolerance);
  // Powers are far larger than slopes: these alone.
  std::vector<double> slopes = host(of_spectrum);
  std::vector<double> expected_slopes = expected_own.of_spectrum;
  for (std::size_t i = 3; i < slopes.size(); i += 4) slopes[i] = expected_slopes[i] = 0;
  EXPECT_LT(distance(slopes, expected_slopes), tolerance);
  if (!c.moves_probe) return;
  EXPECT_LT(distance(host(plane_sums), expected_planes), tolerance);
  EXPECT_LT(distance(host(overlap_sum), overlap), tolerance);
  EXPECT_EQ(host(chip_sum), filled(spectra.size(), 0));
}

INSTANTIATE_TEST_SUITE_P(Windows, HotPathOwnProbes,
                         ::testing::Values(OwnCase{64, 1, 0, 9}, OwnCase{128, 1, 0, 6},
                                           OwnCase{64, 1, 3, 7}, OwnCase{256, 1, 0, 4},
                                           OwnCase{256, 1, 2, 4}, OwnCase{128, 1, 2, 6},
                                           OwnCase{64, 3, 2, 7}, OwnCase{128, 3, 0, 5},
                                           OwnCase{128, 3, 2, 5}, OwnCase{128, 8, 1, 4},
                                           OwnCase{128, 1, 2, 5, false}));
INSTANTIATE_TEST_SUITE_P(NoiseModels, HotPathOwnProbes,
                         ::testing::Values(OwnCase{128, 1, 1, 5, true, Noise::poisson},
                                           OwnCase{64, 1, 0, 7, true, Noise::intensity},
                                           OwnCase{128, 3, 0, 5, true, Noise::poisson}));
// Enough positions that a block takes several in turn.
INSTANTIATE_TEST_SUITE_P(Runs, HotPathOwnProbes,
                         ::testing::Values(OwnCase{128, 1, 1, 150}, OwnCase{64, 1, 2, 600},
                                           OwnCase{64, 2, 1, 601}, OwnCase{256, 1, 1, 50}));

}  // namespace
}  // namespace tessera::physics::testing
