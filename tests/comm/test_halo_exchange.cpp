// Fields that hold their own global coordinates, and the adjointness of fill and accumulate, over
// random scans.

#include <array>
#include <random>

#include <gtest/gtest.h>

#include "tessera/comm/halo_exchange.hpp"

#include "support/world.hpp"

namespace tessera::comm {
namespace {

using device::complex;
using device::Device;
using testing::world;

struct Scan {
  Shape2 object;
  std::vector<Pixel> corner;
};

/// The probe is wide against the tiles, so that windows reach past the nearest rank.
Scan random_scan(unsigned seed, int n_positions) {
  std::mt19937 random(seed);
  Scan scan{{70 + static_cast<int>(random() % 40), 60 + static_cast<int>(random() % 50)}, {}};
  for (int i = 0; i < n_positions; ++i)
    scan.corner.push_back({static_cast<int>(random() % (scan.object.h - 23)),
                           static_cast<int>(random() % (scan.object.w - 23))});
  return scan;
}

constexpr Shape2 window{24, 24};

class HaloExchangeTest : public ::testing::TestWithParam<int> {
 protected:
  HaloExchangeTest()
      : scan_(random_scan(static_cast<unsigned>(GetParam()), GetParam() % 4 == 3 ? 2 : 60)),
        tiling_(decomposition::make_tiling(scan_.object, window, scan_.corner, world().size())),
        plan_(decomposition::make_halo_plan(tiling_, world().rank())),
        transport_(make_transport("auto", world())),
        halo_(plan_, 5, *transport_) {}

  device::DeviceView<complex***> complex_field(int n_planes) const {
    return device::DeviceView<complex***>("complex", n_planes, plan_.ghosted.height(),
                                          plan_.ghosted.width());
  }
  device::DeviceView<Real***> real_field() const {
    return device::DeviceView<Real***>("real", 1, plan_.ghosted.height(), plan_.ghosted.width());
  }
  /// f(y, x, field y, field x) on every pixel of the ghosted box.
  template <class F>
  void for_each_ghosted(const F& f) const {
    for (int y = plan_.ghosted.begin.y; y < plan_.ghosted.end.y; ++y)
      for (int x = plan_.ghosted.begin.x; x < plan_.ghosted.end.x; ++x)
        f(Pixel{y, x}, y - plan_.ghosted.begin.y, x - plan_.ghosted.begin.x);
  }

  Scan scan_;
  decomposition::Tiling tiling_;
  decomposition::HaloPlan plan_;
  std::unique_ptr<Transport> transport_;
  HaloExchange halo_;
  Device exec_;
};

TEST_P(HaloExchangeTest, FillGivesGhostsTheirOwnersCoordinates) {
  const auto two_planes = complex_field(2);
  const auto weight = real_field();
  for_each_ghosted([&](Pixel p, int y, int x) {
    const bool owned = plan_.owned.contains(p);
    for (int plane = 0; plane < 2; ++plane)
      two_planes(plane, y, x) = owned ? complex(Real(p.y + 1000 * plane), Real(p.x)) : complex(-1);
    weight(0, y, x) = owned ? Real(p.y * 1000 + p.x) : Real(-1);
  });
  const std::array fields{tile_field(two_planes), tile_field(weight)};
  halo_.fill(exec_, fields);
  int wrong = 0;
  for_each_ghosted([&](Pixel p, int y, int x) {
    for (int plane = 0; plane < 2; ++plane)
      wrong += two_planes(plane, y, x) != complex(Real(p.y + 1000 * plane), Real(p.x));
    wrong += weight(0, y, x) != Real(p.y * 1000 + p.x);
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(HaloExchangeTest, AccumulateAddsWhatEveryHolderOfAPixelHas) {
  const auto count = real_field();
  Kokkos::deep_copy(count, Real(1));
  const std::array fields{tile_field(count)};
  halo_.accumulate(exec_, fields);
  int wrong = 0;
  for_each_ghosted([&](Pixel p, int y, int x) {
    if (!plan_.owned.contains(p)) return;
    int holders = 0;
    for (const decomposition::Tile& tile : tiling_.tiles) holders += tile.ghosted.contains(p);
    wrong += count(0, y, x) != Real(holders);
  });
  EXPECT_EQ(wrong, 0);
}

/// <fill u, w> over all ghosted boxes = <u, accumulate w> over owned boxes.
TEST_P(HaloExchangeTest, AccumulateIsTheAdjointOfFill) {
  std::mt19937 random(static_cast<unsigned>(17 + world().rank()));
  std::normal_distribution<double> normal;
  const auto u = complex_field(1);
  const auto w = complex_field(1);
  for_each_ghosted([&](Pixel p, int y, int x) {
    const complex value(Real(normal(random)), Real(normal(random)));
    u(0, y, x) = plan_.owned.contains(p) ? value : complex(0);
    w(0, y, x) = complex(Real(normal(random)), Real(normal(random)));
  });
  const auto inner = [&](bool owned_only) {
    double sum = 0;
    for_each_ghosted([&](Pixel p, int y, int x) {
      if (owned_only && !plan_.owned.contains(p)) return;
      sum += (Kokkos::conj(u(0, y, x)) * w(0, y, x)).real();
    });
    return sum;
  };
  const auto u_owned = complex_field(1);
  Kokkos::deep_copy(u_owned, u);
  const std::array u_fields{tile_field(u)};
  halo_.fill(exec_, u_fields);
  std::array<double, 2> products{inner(false), 0};
  Kokkos::deep_copy(u, u_owned);
  const std::array w_fields{tile_field(w)};
  halo_.begin_accumulate(exec_, w_fields);
  halo_.finish_accumulate(exec_);
  products[1] = inner(true);
  world().sum(products);
  EXPECT_NEAR(products[0], products[1], 1e-3 * std::sqrt(static_cast<double>(scan_.object.size())));
}

INSTANTIATE_TEST_SUITE_P(RandomScans, HaloExchangeTest, ::testing::Range(0, 12));

}  // namespace
}  // namespace tessera::comm
