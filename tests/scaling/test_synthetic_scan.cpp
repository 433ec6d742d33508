// The synthetic scan against plain double-precision loops: each count of each of this rank's
// positions.

#include <gtest/gtest.h>

#include "tessera/base/error.hpp"
#include "tessera/physics/pattern_store.hpp"

#include "support/plain_model.hpp"
#include "support/world.hpp"
#include "synthetic_scan.hpp"

namespace tessera::scaling {
namespace {

using testing::world;

constexpr SyntheticCase tiny{{3, 4}, 5, 16};

WaveStack whole_object(Shape2 shape) {
  WaveStack object(1, shape);
  for (int y = 0; y < shape.h; ++y)
    for (int x = 0; x < shape.w; ++x) {
      const Kokkos::complex<double> value = transmission(y, x);
      object(0, y, x) = {value.real(), value.imag()};
    }
  return object;
}

/// Intensity of one position at the detector, (1, h, w).
ImageStack<double> intensity(const WaveStack& object, const WaveStack& probe, Pixel corner,
                             Vec2 subpixel) {
  return testing::intensity(testing::dft(testing::exit_waves(object, probe, corner, subpixel), -1));
}

TEST(SyntheticScan, HoldsTheRoundedIntensitiesOfItsSample) {
  const deck::Deck deck = synthetic_deck(tiny, {"probe.n_modes=2"});
  const run::Scan scan = make_synthetic_scan(deck, tiny, world());
  const WaveStack probe = true_probe(deck, scan.plan.optics, tiny.window_px);
  const WaveStack object = whole_object(scan.grid.object);
  const auto& store = dynamic_cast<const physics::ResidentPatterns&>(*scan.on_device.patterns);
  const auto& patterns = std::get<device::DeviceView<std::uint16_t***>>(store.patterns());
  const auto counts = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), patterns);
  const std::vector<int>& mine = scan.tile().positions;
  ASSERT_EQ(counts.extent(0), mine.size());
  double total = 0;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const Pixel corner = scan.grid.corner[mine[i]];
    const Vec2 at_m = scan.info.positions_m[mine[i]];
    const Vec2 exact_px{(at_m.y - scan.grid.origin_m.y) / scan.grid.pixel_m - corner.y,
                        (at_m.x - scan.grid.origin_m.x) / scan.grid.pixel_m - corner.x};
    const ImageStack<double> expected = intensity(object, probe, corner, exact_px);
    for (int y = 0; y < tiny.window_px; ++y)
      for (int x = 0; x < tiny.window_px; ++x) {
        const bool valid = scan.info.valid_pixels(0, y, x) != 0;
        const double wanted = valid ? expected(0, y, x) : 0;
        EXPECT_NEAR(counts(i, y, x), wanted, 0.5 + 2e-5 * wanted)
            << mine[i] << " " << y << " " << x;
        total += counts(i, y, x);
      }
  }
  world().sum(std::span<double>(&total, 1));
  EXPECT_DOUBLE_EQ(total / scan.n_positions(), scan.counts_per_pattern);
  EXPECT_GT(scan.counts_per_pattern, 1000);
}

TEST(SyntheticScan, IsJitteredMaskedAndComplete) {
  const deck::Deck deck = synthetic_deck(tiny, {});
  const run::Scan scan = make_synthetic_scan(deck, tiny, world());
  EXPECT_EQ(scan.n_positions(), 12);
  EXPECT_EQ(scan.n_fitted(), 12);
  EXPECT_TRUE(scan.on_device.has_subpixel);
  int n_invalid = 0;
  for (const std::uint8_t valid : scan.info.valid_pixels) n_invalid += valid ? 0 : 1;
  EXPECT_EQ(n_invalid, 1);
  std::int64_t held = static_cast<std::int64_t>(scan.tile().positions.size());
  world().sum(std::span<std::int64_t>(&held, 1));
  EXPECT_EQ(held, 12);
}

TEST(SyntheticScan, RefusesWhatHasNoPositions) {
  EXPECT_THROW(synthetic_deck({{0, 4}, 5, 16}, {}), InputError);
  EXPECT_THROW(synthetic_deck({{3, 4}, 5, 4}, {}), InputError);
}

}  // namespace
}  // namespace tessera::scaling
