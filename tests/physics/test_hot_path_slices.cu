/// The fused CUDA kernels of thick samples against plain loops in double precision. One GPU, no
/// MPI, no Kokkos.

#include "physics/hot_path_device.cuh"
#include "physics/hot_path_problem.hpp"

namespace tessera::physics::testing {
namespace {

struct Case {
  int n;
  int n_modes;
  int n_positions;
  int n_slices;
  int n_slots = 2;
  Noise noise = Noise::amplitude;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.n_positions << " x " << c.n << "^2, " << c.n_modes << " modes, " << c.n_slices
       << " slices, " << c.n_slots << " slots, noise " << static_cast<int>(c.noise);
}

using Slices = std::vector<std::vector<std::complex<float>>>;

/// A problem whose object is the first of several slices.
struct ThickProblem {
  Problem p;
  Slices slices;
  std::vector<Numbers> turns;  ///< of every gap: what a frequency's phase does, |turn| = 1

  explicit ThickProblem(const Case& c)
      : p(make_problem(c.n, c.n_modes, c.n_positions, c.n_slots, 3000, true)), slices{p.object} {
    p.noise = c.noise;
    std::mt19937 random(11);
    std::uniform_real_distribution<double> phase(-pi, pi);
    for (int slice = 1; slice < c.n_slices; ++slice) {
      slices.push_back(make_problem(c.n, c.n_modes, c.n_positions + slice, 1, 1, true).object);
      turns.emplace_back(p.area());
      for (auto& turn : turns.back()) turn = std::polar(1.0, phase(random));
    }
  }
};

void propagate(WaveStack& waves, const Numbers& turn, bool back) {
  WaveStack spectrum = tessera::testing::dft(waves, -1);
  for (int m = 0; m < spectrum.n(); ++m)
    for (std::size_t i = 0; i < turn.size(); ++i)
      spectrum.image(m)[i] *= back ? std::conj(turn[i]) : turn[i];
  waves = tessera::testing::dft(spectrum, +1);
}

void multiply_by_conjugate(WaveStack& waves, const WaveStack& object) {
  for (int m = 0; m < waves.n(); ++m)
    for (std::size_t i = 0; i < object.size(); ++i)
      waves.image(m)[i] *= std::conj(object.data()[i]);
}

/// @return exit waves behind the last slice. @param incident = what falls on each
WaveStack through(const ThickProblem& thick, const Window& window, const Slices& slices,
                  const std::vector<std::complex<float>>& probes,
                  std::vector<WaveStack>& incident) {
  WaveStack waves = window.lit(probes);
  for (std::size_t slice = 0; slice < slices.size(); ++slice) {
    if (slice > 0) propagate(waves, thick.turns[slice - 1], false);
    incident.push_back(waves);
    tessera::testing::multiply_by_object(waves, window.seen(slices[slice]), 0, {});
  }
  return waves;
}

/// Of one place, behind the last slice.
struct ExitWaves {
  WaveStack waves;
  WaveStack chi;
};

/// Adds place k; sums.object and sums.dose have a plane for every slice.
ExitWaves add_thick_place(const ThickProblem& thick, int k, Sums& sums) {
  const Problem& p = thick.p;
  const Window window(p, k);
  std::vector<WaveStack> incident;
  const WaveStack waves = through(thick, window, thick.slices, p.probes, incident);
  WaveStack chi = tessera::testing::dft(
      missing_at_detector(window, tessera::testing::dft(waves, -1), sums.figures), +1);
  ExitWaves exit{waves, chi};
  for (std::size_t slice = thick.slices.size(); slice-- > 0;) {
    const WaveStack seen = window.seen(thick.slices[slice]);
    tessera::testing::PlainSums one({p.n, p.n}, p.n_modes, {p.n, p.n});
    one.add_to_object(incident[slice], chi, {});
    for (int y = 0; y < p.n; ++y)
      for (int x = 0; x < p.n; ++x) {
        const std::size_t at = slice * p.object.size() + window.in_object(y, x);
        sums.object[at] += one.object(0, y, x);
        sums.dose[at] += one.dose(0, y, x);
      }
    if (slice == 0) {
      const WaveStack term = one.add_overlap(seen, chi, {});
      for (std::size_t i = 0; i < one.overlap.size(); ++i) sums.overlap[i] += one.overlap.data()[i];
      for (std::size_t i = 0; i < term.size(); ++i)
        sums.slots[window.slot * term.size() + i] += term.data()[i];
      break;
    }
    multiply_by_conjugate(chi, seen);
    propagate(chi, thick.turns[slice - 1], true);
  }
  return exit;
}

/// Adds the rows' unitary FFTs, times `scale`.
void add_row_spectra(const WaveStack& waves, double scale, Numbers& spectra) {
  for (const auto& value : tessera::testing::dft_rows(waves, -1)) spectra.push_back(scale * value);
}

template <class T>
std::vector<T> joined(const std::vector<std::vector<T>>& parts) {
  std::vector<T> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::vector<Complex> turns_of(const ThickProblem& thick, double scale) {
  std::vector<Complex> all;
  for (const Numbers& turn : thick.turns)
    for (const auto& value : turn) all.emplace_back(scale * value);
  return all;
}

std::vector<Complex> propagators(const ThickProblem& thick) {
  return turns_of(thick, 1.0 / (thick.p.n * thick.p.n));
}

/// What plain loops find of places begin, begin + 1 ...
struct Expected {
  Sums sums;
  Numbers exit;  ///< waves behind the last slice
  Numbers chi;
  Numbers exit_rows;
  Numbers chi_rows;

  Expected(const ThickProblem& thick, int begin)
      : sums{Numbers(n_object(thick), {0.5, -0.5}), std::vector<double>(n_object(thick), 0.5),
             Numbers(thick.p.probes.size(), {0.5, -0.5}),
             std::vector<double>(thick.p.area(), 0.5)} {
    for (int k = begin; k < thick.p.n_positions; ++k) {
      const ExitWaves at_place = add_thick_place(thick, k, sums);
      exit.insert(exit.end(), at_place.waves.begin(), at_place.waves.end());
      chi.insert(chi.end(), at_place.chi.begin(), at_place.chi.end());
      add_row_spectra(at_place.waves, 1 / std::sqrt(thick.p.n), exit_rows);
      add_row_spectra(at_place.chi, std::sqrt(thick.p.n), chi_rows);
    }
  }
  static std::size_t n_object(const ThickProblem& thick) {
    return thick.p.object.size() * thick.slices.size();
  }
};

/// A thick problem on the device, and what is added to.
struct ThickOnGpu {
  const ThickProblem& thick;
  std::size_t n_waves;
  OnGpu gpu{thick.p};
  OnDevice<Complex> object{joined(thick.slices)};
  OnDevice<Complex> turns{propagators(thick)};
  OnDevice<Complex> on_chip{poison(turns.size())};
  OnDevice<Complex> object_sum{filled(object.size(), 0.5F)};
  OnDevice<float> dose{std::vector<float>(object.size(), 0.5F)};
  OnDevice<Complex> slot_sums{filled(thick.p.probes.size(), 0.5F)};
  OnDevice<float> overlap{std::vector<float>(thick.p.area(), 0.5F)};
  OnDevice<Complex> incident{poison(n_waves * thick.turns.size())};

  ThickOnGpu(const ThickProblem& problem, int begin)
      : thick(problem),
        n_waves(static_cast<std::size_t>((problem.p.n_positions - begin) * problem.p.n_modes) *
                problem.p.area()) {}

  hot_path::ChunkArrays chunk(int begin) const {
    hot_path::ChunkArrays chunk = gpu.chunk(begin);
    chunk.object = object.data();
    chunk.object_sum = object_sum.data();
    chunk.dose = dose.data();
    chunk.slot_sums = slot_sums.data();
    chunk.overlap = overlap.data();
    return chunk;
  }
  hot_path::SliceArrays slices() const {
    return {.n_slices = static_cast<int>(thick.slices.size()),
            .propagators = turns.data(),
            .propagators_on_chip = on_chip.data(),
            .incident = incident.data(),
            .incident_stride = static_cast<std::int64_t>(n_waves)};
  }
  void expect(const Sums& expected) const {
    check(cudaDeviceSynchronize());
    EXPECT_LT(distance(host(object_sum), expected.object), tolerance);
    EXPECT_LT(distance(host(dose), expected.dose), tolerance);
    EXPECT_LT(distance(host(slot_sums), expected.slots), tolerance);
    EXPECT_LT(distance(host(overlap), expected.overlap), tolerance);
    const std::vector<double> figures = host(gpu.sums);
    for (std::size_t i = 0; i < 5; ++i)
      EXPECT_NEAR(figures[i] / expected.figures[i], 1, tolerance) << "sum " << i;
  }
};

class HotPathSlices : public HotPath, public ::testing::WithParamInterface<Case> {};

TEST_P(HotPathSlices, AgreeWithPlainLoops) {
  const ThickProblem thick(GetParam());
  const int begin = 1;  // a chunk starts anywhere in the order
  const Expected expected(thick, begin);
  const ThickOnGpu gpu(thick, begin);
  const OnDevice waves(poison(gpu.n_waves));
  const OnDevice chi(poison(gpu.n_waves));
  hot_path::ChunkArrays chunk = gpu.chunk(begin);
  hot_path::add_gradients_of_slices(nullptr, gpu.gpu.scan(), chunk, gpu.slices(), waves.data(),
                                    chi.data());
  chunk.dose = nullptr;
  chunk.overlap = nullptr;
  hot_path::exit_rows_of_slices(nullptr, gpu.gpu.scan(), chunk, gpu.slices(), waves.data());
  gpu.expect(expected.sums);
  EXPECT_LT(distance(host(waves), expected.exit_rows), tolerance);
  EXPECT_LT(distance(host(chi), expected.chi_rows), tolerance);
}

/// @return five products of every place, from those of the problem and from where it may move to
std::vector<double> plain_products(const ThickProblem& thick, int begin, const Slices& moved,
                                   const std::vector<std::complex<float>>& direction,
                                   const Expected& expected) {
  const std::size_t of_place = expected.exit.size() / (thick.p.n_positions - begin);
  std::vector<double> products;
  for (int k = begin; k < thick.p.n_positions; ++k) {
    const Window window(thick.p, k);
    std::vector<WaveStack> unused;
    const WaveStack there = through(thick, window, moved, thick.p.probes, unused);
    const WaveStack v = through(thick, window, thick.slices, direction, unused);
    double sum[5] = {};
    for (std::size_t i = 0; i < of_place; ++i) {
      const std::size_t at = (k - begin) * of_place + i;
      const std::complex<double> u = there.data()[i] - expected.exit[at];
      const std::complex<double> of_probe = v.data()[i];
      const auto real_product = [](auto a, auto b) { return (std::conj(a) * b).real(); };
      sum[0] += std::norm(u);
      sum[1] += real_product(u, of_probe);
      sum[2] += std::norm(of_probe);
      sum[3] += real_product(u, expected.chi[at]);
      sum[4] += real_product(of_probe, expected.chi[at]);
    }
    products.insert(products.end(), std::begin(sum), std::end(sum));
  }
  return products;
}

TEST_P(HotPathSlices, AgreeOnTheChip) {
  const Case c = GetParam();
  if (!hot_path::fits_on_chip(c.n, c.n_modes)) GTEST_SKIP() << "windows do not fit on the chip";
  const ThickProblem thick(c);
  const int begin = 1;
  const Expected expected(thick, begin);
  const ThickOnGpu gpu(thick, begin);
  const OnDevice unscaled(turns_of(thick, 1));
  const OnDevice counts(std::vector<std::uint16_t>(thick.p.counts.begin(), thick.p.counts.end()));
  const OnDevice exit(poison(gpu.n_waves));
  const OnDevice chi(poison(gpu.n_waves));
  hot_path::ScanArrays scan = gpu.gpu.scan();
  scan.counts = hot_path::Counts::u16;
  scan.patterns = counts.data();
  hot_path::planes_to_chip(nullptr, c.n, c.n_slices - 1, unscaled.data(), gpu.on_chip.data());
  const hot_path::KeptOfSlices kept{.exit = exit.data(), .chi = chi.data()};
  hot_path::add_gradients_of_slices_on_chip(nullptr, scan, gpu.chunk(begin), gpu.slices(), kept);
  gpu.expect(expected.sums);
  EXPECT_LT(distance(host(exit), expected.exit), tolerance);
  EXPECT_LT(distance(host(chi), expected.chi), tolerance);

  const ThickProblem other({c.n, c.n_modes, c.n_positions + 1, c.n_slices, c.n_slots});
  const OnDevice moved(joined(other.slices));
  const OnDevice direction(other.p.probes);
  const OnDevice products(std::vector<double>(5 * (c.n_positions - begin)));
  hot_path::add_products_of_slices(
      nullptr, scan, gpu.chunk(begin), gpu.slices(),
      {.object = moved.data(), .probes = direction.data(), .products = products.data()}, kept);
  check(cudaDeviceSynchronize());
  EXPECT_LT(distance(host(products),
                     plain_products(thick, begin, other.slices, other.p.probes, expected)),
            tolerance);
}

INSTANTIATE_TEST_SUITE_P(Windows, HotPathSlices,
                         ::testing::Values(Case{32, 1, 5, 2}, Case{64, 1, 4, 3}, Case{128, 1, 4, 2},
                                           Case{256, 1, 3, 2}, Case{512, 1, 2, 2},
                                           Case{1024, 1, 2, 2}));
INSTANTIATE_TEST_SUITE_P(Modes, HotPathSlices,
                         ::testing::Values(Case{32, 3, 4, 4}, Case{128, 2, 3, 3},
                                           Case{128, 8, 2, 3}, Case{64, 3, 7, 3},
                                           Case{64, 13, 3, 2}));
INSTANTIATE_TEST_SUITE_P(NoiseModels, HotPathSlices,
                         ::testing::Values(Case{128, 1, 4, 2, 2, Noise::poisson},
                                           Case{64, 1, 5, 3, 2, Noise::intensity},
                                           Case{128, 3, 3, 2, 2, Noise::poisson}));
// Enough positions that a block takes several in turn.
INSTANTIATE_TEST_SUITE_P(Runs, HotPathSlices,
                         ::testing::Values(Case{32, 2, 1500, 2, 7}, Case{128, 1, 300, 3, 9},
                                           Case{64, 1, 1300, 2, 700}, Case{128, 3, 100, 2, 5},
                                           Case{256, 1, 70, 2, 3}));

}  // namespace
}  // namespace tessera::physics::testing
