/// The probe's side of the hot path against plain loops in double precision. One GPU, no MPI, no
/// Kokkos.

#include "physics/hot_path_device.cuh"
#include "physics/hot_path_problem.hpp"

namespace tessera::physics::testing {
namespace {

struct SlotCase {
  int n;
  int n_modes;
  std::size_t n_slots = 5;
};

void PrintTo(const SlotCase& c, std::ostream* out) {
  *out << c.n << "^2, " << c.n_modes << " modes, " << c.n_slots << " slots";
}

class HotPathSlots : public HotPath, public ::testing::WithParamInterface<SlotCase> {
 protected:
  int n_ = GetParam().n;
  int n_modes_ = GetParam().n_modes;
  std::size_t n_slots_ = GetParam().n_slots;
  std::size_t n_modes_size_ = static_cast<std::size_t>(n_modes_);
  std::size_t area_ = static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_);
  Problem random_ = make_problem(n_, n_modes_, 1, static_cast<int>(n_slots_), 1, true);
  std::vector<float> shift_ = make_shifts(n_slots_);

  hot_path::Slots slots(const OnDevice<float>& shift) const {
    return {n_, n_modes_, static_cast<int>(n_slots_), shift.data()};
  }
  /// Image i of a (slot, mode) stack.
  Numbers image(std::size_t i) const {
    const auto* const first = random_.probes.data() + i * area_;
    return {first, first + area_};
  }
  /// The image moved by sign times the slot's shift.
  Numbers moved(const Numbers& original, std::size_t slot, int sign) const {
    return testing::moved(original, n_, sign * static_cast<double>(shift_[2 * slot]),
                          sign * static_cast<double>(shift_[2 * slot + 1]));
  }
};

TEST_P(HotPathSlots, ProbesAreShifted) {
  Numbers expected;
  for (std::size_t slot = 0; slot < n_slots_; ++slot)
    for (std::size_t m = 0; m < n_modes_size_; ++m) {
      const Numbers probe = moved(image(m), slot, 1);
      expected.insert(expected.end(), probe.begin(), probe.end());
    }
  const OnDevice shift(shift_);
  const OnDevice row_spectrum(
      std::vector<Complex>(random_.probes.begin(), random_.probes.begin() + n_modes_size_ * area_));
  const OnDevice probes(poison(n_slots_ * n_modes_size_ * area_));
  hot_path::transform_rows(nullptr, n_, n_modes_, true, row_spectrum.data());
  hot_path::shift_probes(nullptr, slots(shift), row_spectrum.data(), probes.data());
  check(cudaDeviceSynchronize());
  EXPECT_LT(distance(host(probes), expected), tolerance);
}

TEST_P(HotPathSlots, SumsAreGatheredAndCleared) {
  Numbers expected(n_modes_size_ * area_);
  for (std::size_t m = 0; m < n_modes_size_; ++m) {
    Numbers sum(area_);
    for (std::size_t slot = 0; slot < n_slots_; ++slot) {
      const Numbers back = moved(image(slot * n_modes_size_ + m), slot, -1);
      for (std::size_t i = 0; i < area_; ++i) sum[i] += back[i] * static_cast<double>(n_);
    }
    sum = fft_rows(sum, n_, -1);
    for (std::size_t i = 0; i < area_; ++i)
      expected[m * area_ + i] = sum[i] + std::complex<double>(0.5, -0.5);
  }
  const OnDevice shift(shift_);
  const OnDevice slot_sums(random_.probes);
  const OnDevice sum(filled(n_modes_size_ * area_, 0.5F));
  hot_path::gather_slot_sums(nullptr, slots(shift), slot_sums.data(), sum.data());
  check(cudaDeviceSynchronize());
  EXPECT_LT(distance(host(sum), expected), tolerance);
  EXPECT_EQ(host(slot_sums), filled(slot_sums.size(), 0.F));
}

// The last has more slots than blocks fit: a block takes several in turn, the last run is shorter.
INSTANTIATE_TEST_SUITE_P(Windows, HotPathSlots,
                         ::testing::Values(SlotCase{32, 1}, SlotCase{64, 3}, SlotCase{128, 1},
                                           SlotCase{128, 6}, SlotCase{256, 3}, SlotCase{512, 2},
                                           SlotCase{1024, 1}, SlotCase{32, 3, 1100}));

struct UpdateCase {
  int n;
  int n_modes;
  float alpha = 0.3F;
};

void PrintTo(const UpdateCase& c, std::ostream* out) {
  *out << c.n << "^2, " << c.n_modes << " modes, alpha " << c.alpha;
}

/// A batch's sums and the probe before it.
struct Update {
  Numbers gradient;  ///< (mode, n, n), what the sums stand for
  std::vector<Complex> probe_sum;
  std::vector<Complex> probe;
  std::vector<float> overlap;  ///< a sixth of the pixels has none
};

Update make_update(const UpdateCase& c) {
  const Problem random = make_problem(c.n, c.n_modes, 1, 2, 1, true);
  const std::size_t area = random.area();
  const std::size_t size = static_cast<std::size_t>(c.n_modes) * area;
  const auto* const second = random.probes.data() + size;
  Update update{Numbers(second, second + size), {}, {}, {}};
  update.probe.assign(random.probes.begin(), random.probes.begin() + size);
  for (std::size_t begin = 0; begin < size; begin += area) {
    const auto first = update.gradient.begin() + static_cast<std::ptrdiff_t>(begin);
    const Numbers rows =
        fft_rows(Numbers(first, first + static_cast<std::ptrdiff_t>(area)), c.n, -1);
    for (const auto& value : rows) update.probe_sum.emplace_back(value * static_cast<double>(c.n));
  }
  for (std::size_t i = 0; i < area; ++i)
    update.overlap.push_back(i % 6 == 1 ? 0.F : 1.F + std::norm(random.probes[i]));
  return update;
}

class HotPathUpdate : public HotPath, public ::testing::WithParamInterface<UpdateCase> {};

TEST_P(HotPathUpdate, IsTheFormulaAndClearsItsSums) {
  const UpdateCase c = GetParam();
  const Update update = make_update(c);
  const std::size_t area = update.overlap.size();
  const std::size_t size = update.probe.size();
  const float step_size = 0.7F;
  const float max_overlap = *std::max_element(update.overlap.begin(), update.overlap.end());
  Numbers expected(update.probe.begin(), update.probe.end());
  Numbers expected_rows;
  std::vector<double> power(area);
  for (std::size_t begin = 0; begin < size; begin += area) {
    for (std::size_t i = 0; i < area; ++i) {
      const double weight = (1.0 - c.alpha) * update.overlap[i] + double{c.alpha} * max_overlap;
      if (weight > 0) expected[begin + i] += update.gradient[begin + i] * (step_size / weight);
      power[i] += std::norm(expected[begin + i]);
    }
    const auto first = expected.begin() + static_cast<std::ptrdiff_t>(begin);
    const Numbers rows =
        fft_rows(Numbers(first, first + static_cast<std::ptrdiff_t>(area)), c.n, -1);
    expected_rows.insert(expected_rows.end(), rows.begin(), rows.end());
  }

  const OnDevice step(std::vector<float>{step_size});
  const OnDevice probe_sum(update.probe_sum);
  const OnDevice overlap(update.overlap);
  const OnDevice probe(update.probe);
  const OnDevice row_spectrum(poison(size));
  const OnDevice max(std::vector<float>{1e30F, 1e30F});  // of a batch before
  hot_path::update_probe(nullptr,
                         {c.n, c.n_modes, step.data(), c.alpha, probe_sum.data(), overlap.data(),
                          probe.data(), row_spectrum.data(), max.data(), max.data() + 1});
  check(cudaDeviceSynchronize());

  EXPECT_LT(distance(host(probe), expected), tolerance);
  EXPECT_LT(distance(host(row_spectrum), expected_rows), tolerance);
  EXPECT_EQ(host(max)[0], max_overlap);
  const double max_power = *std::max_element(power.begin(), power.end());
  EXPECT_NEAR(host(max)[1] / max_power, 1, tolerance);
  EXPECT_EQ(host(probe_sum), filled(size, 0.F));
  EXPECT_EQ(host(overlap), std::vector<float>(area, 0.F));
}

// More modes than a block has warps: the last two. Without alpha some weights are zero.
INSTANTIATE_TEST_SUITE_P(Windows, HotPathUpdate,
                         ::testing::Values(UpdateCase{32, 1}, UpdateCase{32, 3, 0},
                                           UpdateCase{64, 3}, UpdateCase{128, 1, 0},
                                           UpdateCase{128, 3}, UpdateCase{128, 6},
                                           UpdateCase{256, 1, 1}, UpdateCase{256, 6},
                                           UpdateCase{512, 3}, UpdateCase{1024, 1},
                                           UpdateCase{1024, 8}, UpdateCase{64, 9},
                                           UpdateCase{512, 11, 0}));

}  // namespace
}  // namespace tessera::physics::testing
