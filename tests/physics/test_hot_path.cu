/// The fused CUDA kernels against plain loops in double precision. One GPU, no MPI, no Kokkos.

#include <cstdint>
#include <functional>
#include <limits>

#include "physics/hot_path_device.cuh"
#include "physics/hot_path_problem.hpp"

namespace tessera::physics::testing {
namespace {

using hot_path::Counts;

struct Case {
  int n;
  int n_modes;
  int n_positions;
  int n_slots = 2;
  Counts counts = Counts::u16;
  bool moves_probe = true;
  bool patterns_packed = false;
  float saturation = std::numeric_limits<float>::infinity();
  bool background = false;
  Noise noise = Noise::amplitude;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.n_positions << " x " << c.n << "^2, " << c.n_modes << " modes, " << c.n_slots
       << " slots, counts " << static_cast<int>(c.counts) << (c.moves_probe ? "" : ", probe kept")
       << (c.patterns_packed ? ", packed" : "") << (c.background ? ", background" : "")
       << ", noise " << static_cast<int>(c.noise) << ", saturation " << c.saturation;
}

/// Patterns in the order and width that the case asks for, as bytes.
template <class T>
std::vector<unsigned char> pattern_bytes(const Problem& p, const Case& c, int begin) {
  std::vector<unsigned char> bytes(p.counts.size() * sizeof(T));
  auto* const out = reinterpret_cast<T*>(bytes.data());
  for (std::size_t i = 0; i < p.counts.size(); ++i) out[i] = static_cast<T>(p.counts[i]);
  if (!c.patterns_packed) return bytes;
  const std::vector<unsigned char> all = bytes;
  for (int j = 0; begin + j < p.n_positions; ++j)
    std::copy_n(all.begin() + p.order[begin + j] * p.area() * sizeof(T), p.area() * sizeof(T),
                bytes.begin() + j * p.area() * sizeof(T));
  return bytes;
}

std::vector<unsigned char> pattern_bytes_of(const Problem& p, const Case& c, int begin) {
  switch (c.counts) {
    case Counts::u8:
      return pattern_bytes<std::uint8_t>(p, c, begin);
    case Counts::u16:
      return pattern_bytes<std::uint16_t>(p, c, begin);
    case Counts::u32:
      return pattern_bytes<std::uint32_t>(p, c, begin);
    default:
      return pattern_bytes<float>(p, c, begin);
  }
}

/// As the case asks for. @param slopes as Sums::background
Problem problem_of(const Case& c, std::vector<double>& slopes) {
  const int max_counts = c.counts == Counts::u8 ? 250 : 3000;
  Problem p =
      make_problem(c.n, c.n_modes, c.n_positions, c.n_slots, max_counts, c.counts != Counts::f32);
  p.saturation = c.saturation;
  p.noise = c.noise;
  if (!c.background) return p;
  add_background(p, max_counts);
  slopes.assign(2 * p.area(), 0.5);
  return p;
}

/// Where slopes of the background are summed, if there is one.
struct BackgroundSlopes {
  OnDevice<float> values;
  explicit BackgroundSlopes(const Problem& p)
      : values(std::vector<float>(2 * p.background.size(), 0.5F)) {}
  float* or_null() const { return values.size() > 0 ? values.data() : nullptr; }
};

/// Counts and slots as the case has them.
hot_path::ScanArrays scan_of(const Case& c, const OnGpu& gpu, const void* patterns) {
  hot_path::ScanArrays scan = gpu.scan();
  scan.counts = c.counts;
  scan.patterns = patterns;
  if (c.n_slots == 1) scan.slot = nullptr;
  return scan;
}

void expect_figures(const std::vector<double>& figures, const Sums& expected) {
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_NEAR(figures[i] / expected.figures[i], 1, tolerance) << "sum " << i;
}

using Kernels =
    std::function<void(const hot_path::ScanArrays&, const hot_path::ChunkArrays&, Complex* waves)>;

void expect_plain_sums(const Case& c, const Kernels& add_gradients) {
  Sums expected;
  const Problem p = problem_of(c, expected.background);
  const int begin = 1;  // a chunk starts anywhere in the order
  expected.object.assign(p.object.size(), {0.5, -0.5});
  expected.dose.assign(p.object.size(), 0.5);
  expected.slots.assign(p.probes.size(), {0.5, -0.5});
  expected.overlap.assign(p.area(), 0.5);
  for (int k = begin; k < p.n_positions; ++k) add_place(p, k, expected);

  const OnGpu gpu{p};
  const OnDevice patterns(pattern_bytes_of(p, c, begin));
  const OnDevice object_sum(filled(p.object.size(), 0.5F));
  const OnDevice dose(std::vector<float>(p.object.size(), 0.5F));
  const OnDevice slot_sums(filled(p.probes.size(), 0.5F));
  const OnDevice overlap(std::vector<float>(p.area(), 0.5F));
  const BackgroundSlopes background(p);
  const int count = p.n_positions - begin;
  const OnDevice waves(poison(static_cast<std::size_t>(count * c.n_modes) * p.area()));
  const hot_path::ScanArrays scan = scan_of(c, gpu, patterns.data());
  hot_path::ChunkArrays chunk = gpu.chunk(begin);
  chunk.patterns_packed = c.patterns_packed;
  chunk.object_sum = object_sum.data();
  chunk.dose = dose.data();
  chunk.slot_sums = c.moves_probe ? slot_sums.data() : nullptr;
  chunk.overlap = c.moves_probe ? overlap.data() : nullptr;
  chunk.background_slopes = background.or_null();
  add_gradients(scan, chunk, waves.data());
  check(cudaDeviceSynchronize());

  EXPECT_LT(distance(host(object_sum), expected.object), tolerance);
  EXPECT_LT(distance(host(dose), expected.dose), tolerance);
  expect_figures(host(gpu.sums), expected);
  if (c.background) EXPECT_LT(distance(host(background.values), expected.background), tolerance);
  if (!c.moves_probe) {
    EXPECT_EQ(host(slot_sums), filled(p.probes.size(), 0.5F));
    return;
  }
  EXPECT_LT(distance(host(slot_sums), expected.slots), tolerance);
  EXPECT_LT(distance(host(overlap), expected.overlap), tolerance);
}

/// `p` with the probe of its first slot moved to every slot.
void move_probe(Problem& p, const std::vector<float>& shift) {
  const std::size_t size = static_cast<std::size_t>(p.n_modes) * p.area();
  const std::vector<std::complex<float>> probe(p.probes.begin(), p.probes.begin() + size);
  for (std::size_t i = 0; i < p.probes.size(); i += p.area()) {
    const auto first = probe.begin() + static_cast<std::ptrdiff_t>(i % size);
    const Numbers image(first, first + static_cast<std::ptrdiff_t>(p.area()));
    const Numbers there = moved(image, p.n, shift[2 * (i / size)], shift[2 * (i / size) + 1]);
    std::copy(there.begin(), there.end(), p.probes.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

/// n times the row spectra of what the slots' sums make together for the probe.
Numbers gathered(const Problem& p, const Numbers& slot_sums, const std::vector<float>& shift) {
  const std::size_t size = static_cast<std::size_t>(p.n_modes) * p.area();
  Numbers rows;
  for (std::size_t begin = 0; begin < size; begin += p.area()) {
    Numbers sum(p.area());
    for (std::size_t slot = 0; slot < static_cast<std::size_t>(p.n_slots); ++slot) {
      const auto first = slot_sums.begin() + static_cast<std::ptrdiff_t>(slot * size + begin);
      const Numbers back =
          moved(Numbers(first, first + static_cast<std::ptrdiff_t>(p.area())), p.n,
                -static_cast<double>(shift[2 * slot]), -static_cast<double>(shift[2 * slot + 1]));
      for (std::size_t i = 0; i < p.area(); ++i) sum[i] += back[i] * static_cast<double>(p.n);
    }
    const Numbers of_mode = fft_rows(sum, p.n, -1);
    rows.insert(rows.end(), of_mode.begin(), of_mode.end());
  }
  return rows;
}

void expect_plain_shifted_sums(const Case& c) {
  Sums expected;
  Problem p = problem_of(c, expected.background);
  const std::vector<float> shifts = make_shifts(static_cast<std::size_t>(c.n_slots));
  const std::size_t size = static_cast<std::size_t>(c.n_modes) * p.area();
  const OnDevice row_spectrum(
      std::vector<Complex>(p.probes.begin(), p.probes.begin() + static_cast<std::ptrdiff_t>(size)));
  move_probe(p, shifts);
  const int begin = 1;
  expected.object.assign(p.object.size(), {0.5, -0.5});
  expected.dose.assign(p.object.size(), 0.5);
  expected.slots.resize(p.probes.size());
  expected.overlap.assign(p.area(), 0.5);
  for (int k = begin; k < p.n_positions; ++k) add_place(p, k, expected);
  Numbers expected_probe = gathered(p, expected.slots, shifts);
  for (auto& value : expected_probe) value += std::complex<double>(0.5, -0.5);

  const OnGpu gpu{p};
  const OnDevice patterns(pattern_bytes_of(p, c, begin));
  const OnDevice shift(shifts);
  const OnDevice spectrum(poison(size));
  const OnDevice kept(filled(static_cast<std::size_t>(hot_path::kept_on_chip()), 7.F));
  const OnDevice object_sum(filled(p.object.size(), 0.5F));
  const OnDevice dose(std::vector<float>(p.object.size(), 0.5F));
  const OnDevice chip_sum(filled(size, 0.F));
  const OnDevice probe_sum(filled(size, 0.5F));
  const OnDevice overlap(std::vector<float>(p.area(), 0.5F));
  const BackgroundSlopes background(p);
  const hot_path::ScanArrays scan = scan_of(c, gpu, patterns.data());
  hot_path::ChunkArrays chunk = gpu.chunk(begin);
  chunk.patterns_packed = c.patterns_packed;
  chunk.probes = nullptr;
  chunk.object_sum = object_sum.data();
  chunk.dose = dose.data();
  chunk.slot_sums = c.moves_probe ? chip_sum.data() : nullptr;
  chunk.overlap = c.moves_probe ? overlap.data() : nullptr;
  chunk.background_slopes = background.or_null();
  hot_path::transform_rows(nullptr, c.n, c.n_modes, true, row_spectrum.data());
  hot_path::spectrum_to_chip(nullptr, c.n, c.n_modes, row_spectrum.data(), spectrum.data());
  hot_path::add_gradients_and_shift(nullptr, scan, chunk,
                                    {shift.data(), spectrum.data(), kept.data()});
  hot_path::gather_from_chip(nullptr, c.n, c.n_modes, chip_sum.data(), probe_sum.data());
  check(cudaDeviceSynchronize());

  EXPECT_LT(distance(host(object_sum), expected.object), tolerance);
  EXPECT_LT(distance(host(dose), expected.dose), tolerance);
  expect_figures(host(gpu.sums), expected);
  if (c.background) EXPECT_LT(distance(host(background.values), expected.background), tolerance);
  EXPECT_EQ(host(chip_sum), filled(size, 0.F));
  if (!c.moves_probe) {
    EXPECT_EQ(host(probe_sum), filled(size, 0.5F));
    return;
  }
  EXPECT_LT(distance(host(probe_sum), expected_probe), tolerance);
  EXPECT_LT(distance(host(overlap), expected.overlap), tolerance);
}

class HotPathGradients : public HotPath, public ::testing::WithParamInterface<Case> {};

TEST_P(HotPathGradients, AgreeWithPlainLoops) {
  const Case c = GetParam();
  ASSERT_TRUE(hot_path::supports(c.n, c.n_modes));
  expect_plain_sums(c, [](const auto& scan, const auto& chunk, Complex* waves) {
    hot_path::add_gradients_and_keep(nullptr, scan, chunk, waves);
  });
}

TEST_P(HotPathGradients, AgreeOnTheChip) {
  const Case c = GetParam();
  if (!hot_path::gradients_fit_on_chip(c.n, c.n_modes))
    GTEST_SKIP() << "windows do not fit on the chip";
  expect_plain_sums(c, [](const auto& scan, const auto& chunk, Complex* waves) {
    hot_path::add_gradients_on_chip(nullptr, scan, chunk, waves);
  });
}

TEST_P(HotPathGradients, AgreeWhereProbesAreShiftedOnTheChip) {
  const Case c = GetParam();
  if (!hot_path::fits_on_chip(c.n, c.n_modes)) GTEST_SKIP() << "windows do not fit on the chip";
  expect_plain_shifted_sums(c);
}

INSTANTIATE_TEST_SUITE_P(Windows, HotPathGradients,
                         ::testing::Values(Case{32, 1, 9}, Case{64, 1, 7}, Case{128, 1, 6},
                                           Case{256, 1, 4}, Case{512, 1, 3}, Case{1024, 1, 2}));
INSTANTIATE_TEST_SUITE_P(Modes, HotPathGradients,
                         ::testing::Values(Case{32, 2, 5}, Case{32, 3, 5}, Case{32, 12, 4},
                                           Case{64, 2, 7}, Case{64, 3, 6}, Case{64, 4, 5},
                                           Case{64, 8, 5}, Case{64, 12, 4}, Case{128, 2, 5},
                                           Case{128, 3, 5}, Case{128, 4, 4}, Case{128, 5, 4},
                                           Case{128, 6, 4}, Case{128, 7, 3}, Case{128, 8, 3},
                                           Case{128, 9, 3}, Case{128, 10, 3}, Case{128, 12, 3},
                                           Case{128, 16, 3}, Case{256, 2, 3}, Case{256, 3, 3},
                                           Case{256, 6, 3}, Case{512, 2, 2}, Case{512, 3, 3},
                                           Case{512, 4, 2}, Case{1024, 2, 2}));
// More modes than the registers of a block hold.
INSTANTIATE_TEST_SUITE_P(ModesInTurn, HotPathGradients,
                         ::testing::Values(Case{32, 13, 4}, Case{64, 13, 4}, Case{128, 13, 3},
                                           Case{256, 7, 3}, Case{512, 5, 2}, Case{1024, 3, 2}));
INSTANTIATE_TEST_SUITE_P(
    Counts, HotPathGradients,
    ::testing::Values(Case{32, 1, 5, 2, Counts::u8}, Case{128, 1, 4, 2, Counts::u8},
                      Case{64, 2, 4, 1, Counts::u32}, Case{128, 13, 3, 1, Counts::f32},
                      Case{128, 3, 4, 2, Counts::f32}, Case{64, 1, 5, 1, Counts::f32},
                      Case{64, 1, 5, 2, Counts::u16, true, true},
                      Case{128, 2, 5, 2, Counts::u8, true, true}, Case{512, 1, 3, 1, Counts::u8},
                      Case{256, 1, 4, 2, Counts::u8}, Case{256, 1, 3, 1, Counts::u32},
                      Case{256, 1, 4, 2, Counts::f32, true, true}));
INSTANTIATE_TEST_SUITE_P(Probe, HotPathGradients,
                         ::testing::Values(Case{64, 1, 5, 2, Counts::u16, false},
                                           Case{128, 3, 5, 2, Counts::u16, false},
                                           Case{128, 6, 5, 2, Counts::u16, false},
                                           Case{256, 1, 4, 2, Counts::u16, false}));
// A good part of the pixels counts more.
INSTANTIATE_TEST_SUITE_P(Saturation, HotPathGradients,
                         ::testing::Values(Case{128, 1, 6, 2, Counts::u16, true, false, 2000.F},
                                           Case{64, 1, 7, 2, Counts::u8, true, false, 200.F},
                                           Case{128, 3, 5, 2, Counts::f32, true, false, 2000.F},
                                           Case{128, 6, 5, 2, Counts::u8, true, true, 200.F},
                                           Case{64, 3, 6, 2, Counts::u16, true, false, 2000.F},
                                           Case{256, 2, 3, 2, Counts::u32, true, false, 2000.F},
                                           Case{256, 1, 5, 2, Counts::u16, true, false, 2000.F},
                                           Case{32, 13, 4, 2, Counts::u16, true, false, 2000.F}));
constexpr float unsaturated = std::numeric_limits<float>::infinity();
INSTANTIATE_TEST_SUITE_P(
    Background, HotPathGradients,
    ::testing::Values(Case{128, 1, 6, 2, Counts::u16, true, false, unsaturated, true},
                      Case{128, 1, 300, 9, Counts::u8, true, false, 200.F, true},
                      Case{64, 1, 7, 2, Counts::f32, true, false, 2000.F, true},
                      Case{128, 3, 5, 2, Counts::u16, true, false, 2000.F, true},
                      Case{64, 2, 9, 2, Counts::u8, true, false, unsaturated, true},
                      Case{128, 6, 5, 2, Counts::u16, true, true, 2000.F, true},
                      Case{128, 8, 3, 2, Counts::f32, false, false, unsaturated, true},
                      Case{256, 1, 5, 2, Counts::u16, true, false, 2000.F, true},
                      Case{256, 2, 3, 2, Counts::u32, true, false, unsaturated, true},
                      Case{512, 4, 2, 2, Counts::u16, true, false, unsaturated, true},
                      Case{32, 13, 4, 2, Counts::u16, true, true, unsaturated, true}));
INSTANTIATE_TEST_SUITE_P(
    NoiseModels, HotPathGradients,
    ::testing::Values(
        Case{128, 1, 6, 2, Counts::u16, true, false, unsaturated, false, Noise::poisson},
        Case{64, 1, 7, 2, Counts::u8, true, false, 200.F, true, Noise::poisson},
        Case{128, 3, 5, 2, Counts::f32, true, false, 2000.F, false, Noise::intensity},
        Case{64, 4, 6, 2, Counts::u16, true, false, unsaturated, true, Noise::poisson},
        Case{128, 6, 4, 2, Counts::f32, true, false, 2000.F, true, Noise::poisson},
        Case{256, 1, 4, 2, Counts::u16, true, true, unsaturated, true, Noise::intensity},
        Case{512, 2, 2, 2, Counts::u16, true, false, unsaturated, true, Noise::poisson},
        Case{32, 13, 4, 2, Counts::u16, true, false, unsaturated, true, Noise::poisson}));
// Enough positions that a block takes several in turn; the last run is shorter, slots change in
// runs.
INSTANTIATE_TEST_SUITE_P(
    Runs, HotPathGradients,
    ::testing::Values(Case{32, 1, 2000, 7}, Case{32, 1, 2000, 1}, Case{32, 3, 1500, 700},
                      Case{128, 1, 400, 9}, Case{64, 1, 2000, 7}, Case{64, 1, 1500, 600},
                      Case{64, 3, 1300, 40}, Case{64, 2, 1101, 9}, Case{128, 1, 300, 300},
                      Case{128, 3, 150, 20}, Case{128, 6, 80, 20}, Case{128, 12, 35, 3},
                      Case{256, 1, 70, 7}, Case{256, 1, 40, 40}, Case{512, 1, 8, 3}));

TEST(HotPathReference, FftIsTheDefinition) {
  const int n = 8;
  const Problem p = make_problem(n, 1, 1, 1, 1, true);
  const Numbers image(p.probes.begin(), p.probes.end());
  Numbers expected(image.size());
  for (int k = 0; k < n * n; ++k)
    for (int i = 0; i < n * n; ++i)
      expected[k] += image[i] * std::polar(1.0, -2 * pi * (k / n * (i / n) + k % n * (i % n)) / n);
  EXPECT_LT(distance(fft_2d(image, n, -1), expected), 1e-14);
}

TEST(HotPathSupport, IsSquarePowersOfTwo) {
  for (const int n : {32, 64, 128, 256, 512, 1024}) EXPECT_TRUE(hot_path::supports(n, 1)) << n;
  for (const int n : {0, 16, 48, 96, 192, 2048}) EXPECT_FALSE(hot_path::supports(n, 1)) << n;
  EXPECT_FALSE(hot_path::supports(128, 0));
}

}  // namespace
}  // namespace tessera::physics::testing
