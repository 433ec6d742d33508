// Fields that hold their own global coordinates, and the adjointness of fill and accumulate, over
// random scans.

#include <array>
#include <map>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

#include "tessera/halo/halo_exchange.hpp"

#include "tested_transports.hpp"

namespace tessera::halo {
namespace {

using device::complex;
using device::Device;
using testing::on_host;
using testing::world;
using ComplexField = device::DeviceView<complex***>;
using RealField = device::DeviceView<Real***>;

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

/// One transport for all scans: NCCL takes long to start.
class HaloExchangeTest : public ::testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  static void TearDownTestSuite() { transports_.clear(); }

  void SetUp() override {
    const auto& [name, seed] = GetParam();
    const std::string reason = testing::why_not_tested(name);
    if (!reason.empty()) GTEST_SKIP() << reason;
    auto& transport = transports_[name];
    if (!transport) transport = testing::tested_transport(name);
    scan_ = random_scan(static_cast<unsigned>(seed), seed % 4 == 3 ? 2 : 60);
    tiling_ = decomposition::make_tiling(scan_.object, window, scan_.corner, world().size());
    plan_ = decomposition::make_halo_plan(tiling_, world().rank());
    halo_ = std::make_unique<HaloExchange>(plan_, 5, *transport);
  }

  ComplexField complex_field(int n_planes) const {
    return ComplexField("complex", n_planes, plan_.ghosted.height(), plan_.ghosted.width());
  }
  RealField real_field() const {
    return RealField("real", 1, plan_.ghosted.height(), plan_.ghosted.width());
  }
  /// f(y, x, field y, field x) on every pixel of the ghosted box.
  template <class F>
  void for_each_ghosted(const F& f) const {
    for (int y = plan_.ghosted.begin.y; y < plan_.ghosted.end.y; ++y)
      for (int x = plan_.ghosted.begin.x; x < plan_.ghosted.end.x; ++x)
        f(Pixel{y, x}, y - plan_.ghosted.begin.y, x - plan_.ghosted.begin.x);
  }

  static inline std::map<std::string, std::unique_ptr<Transport>> transports_;
  Scan scan_;
  decomposition::Tiling tiling_;
  decomposition::HaloPlan plan_;
  std::unique_ptr<HaloExchange> halo_;
  Device exec_;
};

TEST_P(HaloExchangeTest, FillGivesGhostsTheirOwnersCoordinates) {
  const auto two_planes = complex_field(2);
  const auto weight = real_field();
  auto planes_here = Kokkos::create_mirror(two_planes);
  auto weight_here = Kokkos::create_mirror(weight);
  for_each_ghosted([&](Pixel p, int y, int x) {
    const bool owned = plan_.owned.contains(p);
    for (int plane = 0; plane < 2; ++plane)
      planes_here(plane, y, x) = owned ? complex(Real(p.y + 1000 * plane), Real(p.x)) : complex(-1);
    weight_here(0, y, x) = owned ? Real(p.y * 1000 + p.x) : Real(-1);
  });
  Kokkos::deep_copy(two_planes, planes_here);
  Kokkos::deep_copy(weight, weight_here);
  const std::array fields{tile_field(two_planes), tile_field(weight)};
  halo_->fill(exec_, fields);
  planes_here = on_host(two_planes);
  weight_here = on_host(weight);
  int wrong = 0;
  for_each_ghosted([&](Pixel p, int y, int x) {
    for (int plane = 0; plane < 2; ++plane)
      wrong += planes_here(plane, y, x) != complex(Real(p.y + 1000 * plane), Real(p.x));
    wrong += weight_here(0, y, x) != Real(p.y * 1000 + p.x);
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(HaloExchangeTest, AccumulateAddsWhatEveryHolderOfAPixelHas) {
  const auto count = real_field();
  Kokkos::deep_copy(count, Real(1));
  const std::array fields{tile_field(count)};
  const HaloExchange::Accumulation under_way = halo_->begin_accumulate(exec_, fields);
  for (int i = 0; i < 50; ++i) under_way.progress();  // may end it, which `finish` must bear
  under_way.finish(exec_);
  const auto counted = on_host(count);
  int wrong = 0;
  for_each_ghosted([&](Pixel p, int y, int x) {
    if (!plan_.owned.contains(p)) return;
    int holders = 0;
    for (const decomposition::Tile& tile : tiling_.tiles) holders += tile.ghosted.contains(p);
    wrong += counted(0, y, x) != Real(holders);
  });
  EXPECT_EQ(wrong, 0);
}

/// Exchange after exchange without a wait, as batches have them, against host_mpi.
TEST_P(HaloExchangeTest, ManyExchangesInARowAreThoseOfHostMpiToTheLastBit) {
  std::mt19937 random(static_cast<unsigned>(99 + world().rank()));
  std::normal_distribution<double> normal;
  const auto field = complex_field(1);
  auto start = Kokkos::create_mirror(field);
  for_each_ghosted([&](Pixel, int y, int x) {
    start(0, y, x) = complex(Real(normal(random)), Real(normal(random)));
  });
  const std::array fields{tile_field(field)};
  const auto after_exchanges = [&](HaloExchange& halo) {
    Kokkos::deep_copy(field, start);
    for (int i = 0; i < 4; ++i) {
      halo.begin_accumulate(exec_, fields).finish(exec_);
      halo.fill(exec_, fields);
    }
    return on_host(field);
  };
  const auto got = after_exchanges(*halo_);
  const auto host_mpi = make_transport("host_mpi", world());
  HaloExchange reference(plan_, 2, *host_mpi);
  const auto expected = after_exchanges(reference);
  int wrong = 0;
  for_each_ghosted([&](Pixel, int y, int x) { wrong += got(0, y, x) != expected(0, y, x); });
  EXPECT_EQ(wrong, 0);
}

/// <fill u, w> over all ghosted boxes = <u, accumulate w> over owned boxes.
TEST_P(HaloExchangeTest, AccumulateIsTheAdjointOfFill) {
  std::mt19937 random(static_cast<unsigned>(17 + world().rank()));
  std::normal_distribution<double> normal;
  const auto u = complex_field(1);
  const auto w = complex_field(1);
  auto u_here = Kokkos::create_mirror(u);
  auto w_here = Kokkos::create_mirror(w);
  for_each_ghosted([&](Pixel p, int y, int x) {
    const complex value(Real(normal(random)), Real(normal(random)));
    u_here(0, y, x) = plan_.owned.contains(p) ? value : complex(0);
    w_here(0, y, x) = complex(Real(normal(random)), Real(normal(random)));
  });
  Kokkos::deep_copy(u, u_here);
  Kokkos::deep_copy(w, w_here);
  const std::array u_fields{tile_field(u)};
  halo_->fill(exec_, u_fields);
  const auto u_filled = on_host(u);
  const std::array w_fields{tile_field(w)};
  halo_->begin_accumulate(exec_, w_fields).finish(exec_);
  const auto w_summed = on_host(w);
  std::array<double, 2> products{};
  for_each_ghosted([&](Pixel p, int y, int x) {
    products[0] += (Kokkos::conj(u_filled(0, y, x)) * w_here(0, y, x)).real();
    if (plan_.owned.contains(p))
      products[1] += (Kokkos::conj(u_here(0, y, x)) * w_summed(0, y, x)).real();
  });
  world().sum(products);
  EXPECT_NEAR(products[0], products[1], 1e-3 * std::sqrt(static_cast<double>(scan_.object.size())));
}

/// What one batch reaches of the halo, on the device.
class BatchOfScan {
 public:
  BatchOfScan(const Scan& scan, const decomposition::Tiling& tiling,
              const decomposition::HaloPlan& plan, const std::vector<int>& positions)
      : tile_of_(decomposition::tile_of_positions(tiling, scan.corner)),
        halo_(plan, {window, scan.corner, tile_of_}, 1) {
    halo_.add_batch(positions);
    pieces_ = device::to_device<Pieces>("pieces", halo_.pieces().data(),
                                        Pieces::array_layout(halo_.pieces().size()));
  }
  CarriedPixels carried() const { return {halo_.batch(0), pieces_.data()}; }

 private:
  using Pieces = device::DeviceView<decomposition::Piece*>;
  std::vector<int> tile_of_;
  decomposition::BatchHalo halo_;
  Pieces pieces_;
};

/// Another on every rank.
double value_at(Pixel p, int component) {
  return std::sin(1.3 * p.y + 0.7 * p.x + component + 11.0 * world().rank());
}

TEST_P(HaloExchangeTest, ABatchCarriesWhatItsWindowsReachAndLeavesTheRestAlone) {
  std::vector<int> batch;
  for (int i = 0; i < static_cast<int>(scan_.corner.size()); i += 5) batch.push_back(i);
  const BatchOfScan of_batch(scan_, tiling_, plan_, batch);
  const std::vector<int> tile_of = decomposition::tile_of_positions(tiling_, scan_.corner);
  const auto is_reached = [&](Pixel p, bool by_own) {
    return std::ranges::any_of(batch, [&](int i) {
      return (!by_own || tile_of[i] == world().rank()) &&
             Box::at(scan_.corner[i], window).contains(p);
    });
  };
  const auto start = complex_field(1);
  auto start_here = Kokkos::create_mirror(start);
  for_each_ghosted([&](Pixel p, int y, int x) {
    const bool adds = is_reached(p, true);
    start_here(0, y, x) = adds ? complex(Real(value_at(p, 0)), Real(value_at(p, 1))) : complex(0);
  });
  Kokkos::deep_copy(start, start_here);
  // Sums: as if all ghosts had travelled.
  const auto after_sums = [&](const CarriedPixels& carried) {
    const auto field = complex_field(1);
    Kokkos::deep_copy(field, start);
    const std::array fields{tile_field(field)};
    halo_->begin_accumulate(exec_, fields, carried).finish(exec_);
    return on_host(field);
  };
  const auto sums = after_sums(of_batch.carried());
  const auto all_sums = after_sums(halo_->all());
  // Values: new where any window reaches, the old ones elsewhere.
  const auto values = complex_field(1);
  auto values_here = Kokkos::create_mirror(values);
  for_each_ghosted([&](Pixel p, int y, int x) {
    values_here(0, y, x) = plan_.owned.contains(p) ? complex(Real(p.y), Real(p.x)) : complex(-1);
  });
  Kokkos::deep_copy(values, values_here);
  const std::array fields{tile_field(values)};
  halo_->fill(exec_, fields, of_batch.carried());
  const auto filled = on_host(values);
  int wrong = 0;
  for_each_ghosted([&](Pixel p, int y, int x) {
    const bool is_new = plan_.owned.contains(p) || is_reached(p, false);
    wrong += filled(0, y, x) != (is_new ? complex(Real(p.y), Real(p.x)) : complex(-1));
    wrong += sums(0, y, x) != all_sums(0, y, x);
  });
  EXPECT_EQ(wrong, 0);
}

/// A batch of one position.
TEST_P(HaloExchangeTest, BytesOfABatchAreThoseOfThePixelsThatItReaches) {
  const std::vector<int> batch{0};
  const BatchOfScan of_batch(scan_, tiling_, plan_, batch);
  const int tile = decomposition::tile_of_positions(tiling_, scan_.corner)[0];
  const Box reached = Box::at(scan_.corner[0], window);
  std::int64_t n_pixels = 0;
  std::int64_t n_messages = 0;
  for (const decomposition::PeerBoxes& peer : plan_.peers) {
    const auto count = [&](const Box& box) {
      n_pixels += intersection(box, reached).area();
      n_messages += intersection(box, reached).empty() ? 0 : 1;
    };
    count(peer.owned_here);
    if (world().rank() == tile) count(peer.ghost_here);
  }
  const auto field = complex_field(2);
  const std::array fields{tile_field(field)};
  const HaloStatistics before = halo_->statistics();
  halo_->begin_accumulate(exec_, fields, of_batch.carried()).finish(exec_);
  halo_->fill(exec_, fields, of_batch.carried());
  const HaloStatistics after = halo_->statistics();
  EXPECT_EQ(after.bytes_sent - before.bytes_sent,
            4 * n_pixels * static_cast<std::int64_t>(sizeof(Real)));
  EXPECT_EQ(after.messages_sent - before.messages_sent, n_messages);
}

INSTANTIATE_TEST_SUITE_P(RandomScans, HaloExchangeTest,
                         ::testing::Combine(::testing::ValuesIn(testing::tested_transports()),
                                            ::testing::Range(0, 12)));

}  // namespace
}  // namespace tessera::halo
