/// Dose and overlap of densely lying windows against plain loops in double precision.

#include <cstdint>
#include <random>

#include "physics/hot_path_device.cuh"
#include "physics/hot_path_problem.hpp"

namespace tessera::physics::testing {
namespace {

struct Case {
  int n;
  int n_modes;
  int n_slots;
  int n_positions;
  int object_h;
  int object_w;
  bool intensity = false;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.n_positions << " x " << c.n << "^2, " << c.n_modes << " modes, " << c.n_slots
       << " slots, object " << c.object_h << " x " << c.object_w
       << (c.intensity ? ", intensity" : "");
}

/// Windows of an object of the case's size, in any order, without counts.
Problem problem_of(const Case& c) {
  std::mt19937 random(static_cast<unsigned>(c.n + c.n_positions));
  std::uniform_real_distribution<float> uniform(0, 1);
  const auto number = [&] { return std::complex<float>(uniform(random), uniform(random) - 0.5F); };
  Problem p{c.n, c.n_modes, c.n_positions, c.n_slots, c.object_h, c.object_w, {}, {}, {}, {}, {},
            {},  {}};
  p.object.resize(static_cast<std::size_t>(c.object_h) * static_cast<std::size_t>(c.object_w));
  for (auto& o : p.object) o = number();
  p.probes.resize(static_cast<std::size_t>(c.n_slots * c.n_modes) * p.area());
  for (auto& q : p.probes) q = number();
  p.counts = {0.F};
  p.valid.assign(p.area(), 1.F);
  for (int j = 0; j < c.n_positions; ++j) {
    p.order.push_back(c.n_positions - 1 - j);
    // The first two at the corners, where tiles and cells end.
    const auto corner = [&](int size) {
      return j == 0 ? 0 : j == 1 ? size - c.n : static_cast<int>(random() % (size - c.n + 1));
    };
    p.corner.push_back(corner(c.object_h));
    p.corner.push_back(corner(c.object_w));
    p.slot.push_back(j * c.n_slots / c.n_positions);
  }
  return p;
}

/// Thousands of terms in single precision.
constexpr double tolerance_of_sums = 1e-5;

struct Scratch {
  OnDevice<int> places;
  OnDevice<float> powers;
  explicit Scratch(const Problem& p)
      : places(std::vector<int>(
            static_cast<std::size_t>(hot_path::dense_coverage_places(p.n_positions)))),
        powers(std::vector<float>(static_cast<std::size_t>(p.n_slots) * p.area())) {}
  hot_path::DenseScratch arrays() const { return {places.data(), powers.data()}; }
};

class DenseCoverage : public HotPath, public ::testing::WithParamInterface<Case> {
 protected:
  Problem p_ = problem_of(GetParam());
  std::vector<float> intensity_;
  std::vector<double> dose_ = std::vector<double>(p_.object.size(), 0.25);
  std::vector<double> overlap_ = std::vector<double>(p_.area(), 0.5);

  void SetUp() override {
    HotPath::SetUp();
    for (int i = 0; GetParam().intensity && i < p_.n_positions; ++i)
      intensity_.push_back(0.5F + static_cast<float>(i % 7));
  }

  /// Adds places from `begin` on.
  void add_by_loops(int begin) {
    for (int k = begin; k < p_.n_positions; ++k) {
      const Window window(p_, k);
      const double intensity =
          intensity_.empty() ? 1 : static_cast<double>(intensity_[window.position]);
      for (int y = 0; y < p_.n; ++y)
        for (int x = 0; x < p_.n; ++x) {
          const std::size_t of_object = window.in_object(y, x);
          overlap_[window.in_image(y, x)] +=
              intensity * std::norm(std::complex<double>(p_.object[of_object]));
          for (std::size_t m = 0; m < static_cast<std::size_t>(p_.n_modes); ++m)
            dose_[of_object] += std::norm(std::complex<double>(
                p_.probes[(window.slot * p_.n_modes + m) * p_.area() + window.in_image(y, x)]));
        }
    }
  }
};

TEST_P(DenseCoverage, IsThatOfPlainLoops) {
  if (!hot_path::fits_on_chip(p_.n, 1)) GTEST_SKIP() << "such windows are for Hopper and later";
  const OnGpu gpu{p_};
  const OnDevice<float> intensity(intensity_);
  const OnDevice<float> dose(std::vector<float>(dose_.begin(), dose_.end()));
  const OnDevice<float> overlap(std::vector<float>(overlap_.begin(), overlap_.end()));
  const Scratch scratch(p_);
  hot_path::ScanArrays scan = gpu.scan();
  if (!intensity_.empty()) scan.intensity = intensity.data();
  // Twice, the second time less: what was sorted before leaves nothing behind.
  for (const int begin : {0, p_.n_positions / 5}) {
    hot_path::ChunkArrays batch = gpu.chunk(begin);
    batch.dose = dose.data();
    batch.overlap = overlap.data();
    EXPECT_TRUE(
        hot_path::covers_densely(p_.n, p_.object_h, p_.object_w, batch.count, GetParam().n_slots));
    hot_path::add_dense_coverage(nullptr, scan, batch, GetParam().n_slots, scratch.arrays());
    add_by_loops(begin);
  }
  check(cudaDeviceSynchronize());
  EXPECT_LT(distance(host(dose), dose_), tolerance_of_sums);
  EXPECT_LT(distance(host(overlap), overlap_), tolerance_of_sums);
}

TEST_P(DenseCoverage, AddsWhatIsWantedAlone) {
  if (!hot_path::fits_on_chip(p_.n, 1)) GTEST_SKIP() << "such windows are for Hopper and later";
  const OnGpu gpu{p_};
  const OnDevice<float> dose(std::vector<float>(dose_.begin(), dose_.end()));
  const Scratch scratch(p_);
  hot_path::ChunkArrays batch = gpu.chunk(0);
  batch.dose = dose.data();
  hot_path::add_dense_coverage(nullptr, gpu.scan(), batch, GetParam().n_slots, scratch.arrays());
  add_by_loops(0);
  EXPECT_LT(distance(host(dose), dose_), tolerance_of_sums);
}

INSTANTIATE_TEST_SUITE_P(
    OfWindows, DenseCoverage,
    ::testing::Values(Case{64, 1, 1, 300, 64, 64},          // one cell, one tile
                      Case{64, 2, 3, 700, 201, 153},        // odd
                      Case{64, 1, 1, 2000, 64, 701, true},  // a line
                      Case{64, 1, 2, 9000, 150, 170},       // more than are sorted at a time
                      Case{128, 1, 4, 400, 333, 259}, Case{128, 3, 2, 300, 257, 300, true},
                      Case{256, 1, 2, 150, 511, 399}));

TEST_F(HotPath, SparseWindowsAreLeftToTheirChunks) {
  if (!hot_path::fits_on_chip(128, 1)) GTEST_SKIP() << "such windows are for Hopper and later";
  const auto dense = [](int n, int count, int n_slots) {
    return hot_path::covers_densely(n, 2179, 2179, count, n_slots);
  };
  EXPECT_TRUE(dense(128, 65536, 256));
  EXPECT_FALSE(dense(128, 65536, 512));  // few windows of a slot
  EXPECT_TRUE(dense(128, 8192, 0));
  EXPECT_FALSE(dense(128, 8192, 16));
  EXPECT_FALSE(dense(128, 2730, 0));
  EXPECT_FALSE(dense(512, 65536, 1));
  // More pixels than the kernels can number.
  EXPECT_FALSE(hot_path::covers_densely(128, 70000, 70000, 2000000000, 1));
}

}  // namespace
}  // namespace tessera::physics::testing
