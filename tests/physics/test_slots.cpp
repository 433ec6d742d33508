// Positions that share shifted probes, in chunks that share slots or have their own.

#include <cmath>
#include <tuple>

#include <gtest/gtest.h>

#include "physics/forward_model.hpp"
#include "support/small_scan.hpp"

namespace tessera::physics::slots_tests {
namespace {

using device::DeviceView;
using testing::Complex;

constexpr Shape2 window{8, 6};
constexpr int n_positions = 17;
constexpr int n_modes = 2;

/// Sub-pixel parts in steps of half a pixel: at most nine shifts for seventeen positions, of which
/// every third is on the border. Parameters: chunk size, most slots.
class Slots : public ::testing::TestWithParam<std::pair<int, int>> {
 protected:
  Slots()
      : scan_(testing::make_small_scan(window, n_modes, n_positions, true, 5)),
        layout_(rounded_shifts(scan_), chunk_size(), max_slots(), 1),
        model_(scan_.tile, n_modes, chunk_size(), max_slots(), false, fft::Planning::reproducible),
        object_(testing::on_device(scan_.object)),
        probe_(testing::on_device(scan_.probe)) {
    std::vector<int> border;
    std::vector<int> interior;
    for (int i = 0; i < n_positions; ++i) (i % 3 == 0 ? border : interior).push_back(i);
    layout_.add_batch(border, interior);
    copy(scan_.tile.order, layout_.order());
    copy(scan_.tile.slot, layout_.slot());
    const auto shift = Kokkos::create_mirror_view(scan_.tile.slot_shift);
    for (std::size_t i = 0; i < layout_.slot_shift().size(); ++i) {
      shift(i, 0) = static_cast<Real>(layout_.slot_shift()[i].y);
      shift(i, 1) = static_cast<Real>(layout_.slot_shift()[i].x);
    }
    Kokkos::deep_copy(scan_.tile.slot_shift, shift);
    model_.set_probe(exec_, probe_);
  }
  static int chunk_size() { return GetParam().first; }
  static int max_slots() { return GetParam().second; }
  static std::span<const Vec2> rounded_shifts(testing::SmallScan& scan) {
    for (Vec2& part : scan.subpixel)
      part = {std::round(2 * part.y) / 2, std::round(2 * part.x) / 2};
    return scan.subpixel;
  }
  static void copy(const DeviceView<int*>& to, std::span<const int> from) {
    const auto host = Kokkos::create_mirror_view(to);
    std::copy(from.begin(), from.end(), host.data());
    Kokkos::deep_copy(to, host);
  }
  int position(const Chunk& chunk, int j) const { return layout_.order()[chunk.begin + j]; }
  ProbeView waves_of(int j) const {
    return ProbeView(model_.waves().data() + j * n_modes * window.size(), n_modes, window.h,
                     window.w);
  }
  /// Of the probe that the model sees.
  void expect_waves_of(const WaveStack& probe, const Chunk& chunk) {
    model_.forward(exec_, object_, chunk);
    for (int j = 0; j < chunk.count; ++j) {
      const int i = position(chunk, j);
      const WaveStack expected = testing::dft(
          testing::exit_waves(scan_.object, probe, scan_.corner[i], scan_.subpixel[i]), -1);
      EXPECT_LT(testing::relative_difference(testing::on_host(waves_of(j)), expected),
                testing::rounding);
    }
  }
  /// That one visit to all chunks makes.
  double n_slots() const {
    double n = 0;
    for (const Chunk& chunk : layout_.chunks()) n += chunk.ends_slots ? chunk.n_slots : 0;
    return n;
  }
  /// What lies at the detector in place of the waves of a position.
  static WaveStack weights(int position) {
    return testing::random_waves(n_modes, window, 100 + static_cast<unsigned>(position));
  }
  /// The whole probe gradient of `weights`.
  WaveStack probe_gradient(const DeviceView<Real**>& overlap) {
    const GradientSums sums = testing::zero_sums(object_, probe_);
    for (const Chunk& chunk : layout_.chunks()) {
      model_.forward(exec_, object_, chunk);
      for (int j = 0; j < chunk.count; ++j)
        Kokkos::deep_copy(waves_of(j), testing::on_device(weights(position(chunk, j))));
      model_.backward(exec_, chunk);
      model_.add_gradients(exec_, object_, chunk, sums, true);
    }
    model_.finish_probe_gradient(exec_, sums.probe);
    Kokkos::deep_copy(overlap, sums.overlap);
    return testing::on_host(sums.probe);
  }

  device::Device exec_;
  testing::SmallScan scan_;
  decomposition::ChunkLayout layout_;
  ForwardModel model_;
  ObjectView object_;
  ProbeView probe_;
};

TEST_P(Slots, DetectorWavesAgreeWithPlainLoops) {
  for (const Chunk& chunk : layout_.chunks()) expect_waves_of(scan_.probe, chunk);
}

/// As along a line.
TEST_P(Slots, ProbesThatAreSeenInTurnKeepTheirs) {
  const WaveStack other = testing::random_waves(n_modes, window, 31);
  Illumination& illumination = model_.illumination();
  ShiftedProbe& here = illumination.seen();
  ShiftedProbe there = illumination.with_slots(testing::on_device(other));
  illumination.transform(exec_, there);
  for (const Chunk& chunk : layout_.chunks()) {
    illumination.set_probe(there);
    expect_waves_of(other, chunk);
    illumination.set_probe(here);
    expect_waves_of(scan_.probe, chunk);
  }
  EXPECT_DOUBLE_EQ(model_.transforms_per_position(), 2 + 2 * n_slots() / n_positions);
}

TEST_P(Slots, ProbeGradientAndOverlapAgreeWithPlainLoops) {
  testing::PlainSums expected(scan_.object.shape(), n_modes, window);
  for (int i = 0; i < n_positions; ++i)
    expected.add_to_probe(scan_.object, testing::dft(weights(i), +1), scan_.corner[i],
                          scan_.subpixel[i]);
  // Twice: sums of slots must start anew.
  for (int pass = 0; pass < 2; ++pass) {
    const DeviceView<Real**> overlap("overlap", probe_.extent(1), probe_.extent(2));
    EXPECT_LT(testing::relative_difference(probe_gradient(overlap), expected.probe),
              3 * testing::rounding);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), overlap);
    for (int y = 0; y < window.h; ++y)
      for (int x = 0; x < window.w; ++x)
        EXPECT_NEAR(host(y, x) / expected.overlap(0, y, x), 1, 3 * testing::rounding);
  }
}

/// <A probe, w> = <probe, A* w> over all chunks.
TEST_P(Slots, ProbeGradientIsTheAdjoint) {
  Complex left = 0;
  for (const Chunk& chunk : layout_.chunks()) {
    model_.forward(exec_, object_, chunk);
    for (int j = 0; j < chunk.count; ++j)
      left += testing::inner(testing::on_host(waves_of(j)), weights(position(chunk, j)));
  }
  const DeviceView<Real**> overlap("overlap", probe_.extent(1), probe_.extent(2));
  const Complex right = testing::inner(scan_.probe, probe_gradient(overlap));
  EXPECT_LT(std::abs(left - right), 100 * testing::rounding * std::abs(left));
}

TEST_P(Slots, TransformsAreCounted) {
  for (const Chunk& chunk : layout_.chunks()) model_.forward(exec_, object_, chunk);
  EXPECT_DOUBLE_EQ(model_.transforms_per_position(), 2 + 2 * n_slots() / n_positions);
  EXPECT_LE(n_slots(), 15) << "of six positions on the border, and nine shifts within";
}

INSTANTIATE_TEST_SUITE_P(Cases, Slots,
                         ::testing::Values(std::pair(1, 1), std::pair(4, 4), std::pair(4, 9),
                                           std::pair(17, 17)));

}  // namespace
}  // namespace tessera::physics::slots_tests
