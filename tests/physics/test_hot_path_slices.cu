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
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.n_positions << " x " << c.n << "^2, " << c.n_modes << " modes, " << c.n_slices
       << " slices, " << c.n_slots << " slots";
}

/// A problem whose object is the first of several slices.
struct ThickProblem {
  Problem p;
  std::vector<std::vector<std::complex<float>>> slices;
  std::vector<Numbers> turns;  ///< of every gap: what a frequency's phase does, |turn| = 1

  explicit ThickProblem(const Case& c)
      : p(make_problem(c.n, c.n_modes, c.n_positions, c.n_slots, 3000, true)), slices{p.object} {
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
  WaveStack waves = window.lit(p.probes);
  for (std::size_t slice = 0; slice < thick.slices.size(); ++slice) {
    if (slice > 0) propagate(waves, thick.turns[slice - 1], false);
    incident.push_back(waves);
    tessera::testing::multiply_by_object(waves, window.seen(thick.slices[slice]), 0, {});
  }
  const WaveStack detector = tessera::testing::dft(waves, -1);
  const ImageStack<double> missing = tessera::testing::missing_amplitude(window, 0, detector);
  for (int i = 0; i < p.n * p.n; ++i) sums.figures[0] += std::pow(missing.data()[i], 2);
  WaveStack chi = tessera::testing::dft(tessera::testing::missing_waves(detector, missing), +1);
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

std::vector<Complex> propagators(const ThickProblem& thick) {
  std::vector<Complex> all;
  for (const Numbers& turn : thick.turns)
    for (const auto& value : turn)
      all.emplace_back(value / static_cast<double>(thick.p.n * thick.p.n));
  return all;
}

class HotPathSlices : public HotPath, public ::testing::WithParamInterface<Case> {};

TEST_P(HotPathSlices, AgreeWithPlainLoops) {
  const Case c = GetParam();
  const ThickProblem thick(c);
  const Problem& p = thick.p;
  const int begin = 1;  // a chunk starts anywhere in the order
  const std::size_t n_object = p.object.size() * thick.slices.size();
  Sums expected{Numbers(n_object, {0.5, -0.5}), std::vector<double>(n_object, 0.5),
                Numbers(p.probes.size(), {0.5, -0.5}), std::vector<double>(p.area(), 0.5)};
  Numbers exit_rows;
  Numbers chi_rows;
  for (int k = begin; k < p.n_positions; ++k) {
    const ExitWaves exit = add_thick_place(thick, k, expected);
    add_row_spectra(exit.waves, 1 / std::sqrt(p.n), exit_rows);
    add_row_spectra(exit.chi, std::sqrt(p.n), chi_rows);
  }

  const OnGpu gpu{p};
  const OnDevice object(joined(thick.slices));
  const OnDevice turns(propagators(thick));
  const OnDevice object_sum(filled(n_object, 0.5F));
  const OnDevice dose(std::vector<float>(n_object, 0.5F));
  const OnDevice slot_sums(filled(p.probes.size(), 0.5F));
  const OnDevice overlap(std::vector<float>(p.area(), 0.5F));
  const int count = p.n_positions - begin;
  const std::size_t n_waves = static_cast<std::size_t>(count * c.n_modes) * p.area();
  const OnDevice waves(poison(n_waves));
  const OnDevice chi(poison(n_waves));
  const OnDevice incident(poison(n_waves * thick.turns.size()));
  hot_path::ChunkArrays chunk = gpu.chunk(begin);
  chunk.object = object.data();
  chunk.object_sum = object_sum.data();
  chunk.dose = dose.data();
  chunk.slot_sums = slot_sums.data();
  chunk.overlap = overlap.data();
  const hot_path::SliceArrays slices{.n_slices = c.n_slices,
                                     .propagators = turns.data(),
                                     .incident = incident.data(),
                                     .incident_stride = static_cast<std::int64_t>(n_waves)};
  hot_path::add_gradients_of_slices(nullptr, gpu.scan(), chunk, slices, waves.data(), chi.data());
  chunk.dose = nullptr;
  chunk.overlap = nullptr;
  hot_path::exit_rows_of_slices(nullptr, gpu.scan(), chunk, slices, waves.data());
  check(cudaDeviceSynchronize());
  EXPECT_LT(distance(host(waves), exit_rows), tolerance);
  EXPECT_LT(distance(host(chi), chi_rows), tolerance);
  EXPECT_LT(distance(host(object_sum), expected.object), tolerance);
  EXPECT_LT(distance(host(dose), expected.dose), tolerance);
  EXPECT_LT(distance(host(slot_sums), expected.slots), tolerance);
  EXPECT_LT(distance(host(overlap), expected.overlap), tolerance);
  EXPECT_NEAR(host(gpu.sums)[0] / expected.figures[0], 1, tolerance);
}

INSTANTIATE_TEST_SUITE_P(Windows, HotPathSlices,
                         ::testing::Values(Case{32, 1, 5, 2}, Case{64, 1, 4, 3}, Case{128, 1, 4, 2},
                                           Case{256, 1, 3, 2}, Case{512, 1, 2, 2},
                                           Case{1024, 1, 2, 2}));
INSTANTIATE_TEST_SUITE_P(Modes, HotPathSlices,
                         ::testing::Values(Case{32, 3, 4, 4}, Case{128, 2, 3, 3},
                                           Case{64, 13, 3, 2}));
// Enough positions that a block takes several in turn.
INSTANTIATE_TEST_SUITE_P(Runs, HotPathSlices, ::testing::Values(Case{32, 2, 1500, 2, 7}));

}  // namespace
}  // namespace tessera::physics::testing
