#include <algorithm>

#include <gtest/gtest.h>

#include "tessera/base/image_stack.hpp"
#include "tessera/decomposition/halo_plan.hpp"

#include "decomposition/random_scans.hpp"

namespace tessera::decomposition {
namespace {

using tessera::testing::n_random_scans;
using tessera::testing::random_scan;
using tessera::testing::RandomScan;

struct Planned {
  RandomScan scan;
  Tiling tiling;
  std::vector<HaloPlan> plans;
};

Planned planned(std::uint64_t seed) {
  Planned all{random_scan(seed), {}, {}};
  all.tiling = make_tiling(all.scan.grid.object, all.scan.grid.window, all.scan.grid.corner,
                           all.scan.n_tiles);
  for (int rank = 0; rank < all.scan.n_tiles; ++rank) {
    all.plans.push_back(make_halo_plan(all.tiling, rank));
  }
  return all;
}

void add(ImageStack<int>& count, const Box& box, int amount) {
  if (box.empty()) return;
  for (int y = box.begin.y; y < box.end.y; ++y) {
    for (int x = box.begin.x; x < box.end.x; ++x) count(0, y, x) += amount;
  }
}

TEST(HaloPlan, ReceivesCoverEachGhostPixelOnceAndComeFromItsOwner) {
  for (std::uint64_t seed = 0; seed < n_random_scans; ++seed) {
    const Planned all = planned(seed);
    for (const HaloPlan& plan : all.plans) {
      ImageStack<int> missing(1, all.tiling.object);
      add(missing, plan.ghosted, 1);
      add(missing, plan.owned, -1);
      EXPECT_EQ(plan.ghost_pixels(), std::count(missing.begin(), missing.end(), 1));
      for (const PeerBoxes& boxes : plan.peers) {
        EXPECT_TRUE(all.tiling.tiles[boxes.peer].owned.contains(boxes.ghost_here));
        add(missing, boxes.ghost_here, -1);
      }
      EXPECT_TRUE(std::all_of(missing.begin(), missing.end(), [](int n) { return n == 0; }))
          << all.scan.name;
    }
  }
}

TEST(HaloPlan, SendsMirrorTheReceivesOfThePeer) {
  for (std::uint64_t seed = 0; seed < n_random_scans; ++seed) {
    const Planned all = planned(seed);
    for (int rank = 0; rank < all.scan.n_tiles; ++rank) {
      for (const PeerBoxes& here : all.plans[rank].peers) {
        const auto& peers = all.plans[here.peer].peers;
        const auto there = std::find_if(peers.begin(), peers.end(),
                                        [&](const PeerBoxes& p) { return p.peer == rank; });
        ASSERT_NE(there, peers.end()) << all.scan.name;
        EXPECT_EQ(here.owned_here, there->ghost_here) << all.scan.name;
        EXPECT_EQ(here.ghost_here, there->owned_here) << all.scan.name;
      }
    }
  }
}

TEST(HaloPlan, PeersAscendAndHaveSomethingToSay) {
  for (std::uint64_t seed = 0; seed < n_random_scans; ++seed) {
    const Planned all = planned(seed);
    for (int rank = 0; rank < all.scan.n_tiles; ++rank) {
      int before = -1;
      for (const PeerBoxes& boxes : all.plans[rank].peers) {
        EXPECT_GT(boxes.peer, before) << all.scan.name;
        EXPECT_NE(boxes.peer, rank) << all.scan.name;
        EXPECT_FALSE(boxes.owned_here.empty() && boxes.ghost_here.empty()) << all.scan.name;
        before = boxes.peer;
      }
    }
  }
}

TEST(HaloPlan, AWideProbeReachesPastTheNearestRank) {
  std::vector<Pixel> corner;
  for (int i = 0; i < 8; ++i) corner.push_back({0, i});
  const Tiling tiling = make_tiling({30, 37}, {30, 30}, corner, 8, TileGrid{1, 8});
  EXPECT_EQ(make_halo_plan(tiling, 3).peers.size(), 7u);
}

TEST(HaloPlan, OneRankHasNoPeers) {
  const std::vector<Pixel> corner{{0, 0}, {3, 5}};
  const Tiling tiling = make_tiling({13, 15}, {10, 10}, corner, 1);
  EXPECT_TRUE(make_halo_plan(tiling, 0).peers.empty());
  EXPECT_EQ(make_halo_plan(tiling, 0).ghost_pixels(), 0);
  EXPECT_EQ(touches_ghosts(tiling, 0, corner), std::vector<bool>(2, false));
}

TEST(TouchesGhosts, AgreesWithTheOwnersOfTheWindowsPixels) {
  for (std::uint64_t seed = 0; seed < n_random_scans; ++seed) {
    const Planned all = planned(seed);
    ImageStack<int> owner(1, all.tiling.object, -1);
    for (int rank = 0; rank < all.scan.n_tiles; ++rank) {
      add(owner, all.tiling.tiles[rank].owned, rank + 1);
    }
    for (int rank = 0; rank < all.scan.n_tiles; ++rank) {
      const std::vector<bool> touches = touches_ghosts(all.tiling, rank, all.scan.grid.corner);
      const std::vector<int>& positions = all.tiling.tiles[rank].positions;
      ASSERT_EQ(touches.size(), positions.size());
      for (std::size_t k = 0; k < positions.size(); ++k) {
        const Pixel corner = all.scan.grid.corner[positions[k]];
        bool expected = false;
        for (int y = 0; y < all.scan.grid.window.h; ++y) {
          for (int x = 0; x < all.scan.grid.window.w; ++x) {
            expected = expected || owner(0, corner.y + y, corner.x + x) != rank;
          }
        }
        EXPECT_EQ(touches[k], expected) << all.scan.name;
      }
    }
  }
}

// The example by hand of docs/architecture.md: 100 x 100 pixels, windows of 16 every 12 pixels,
// four tiles.
TEST(HaloPlan, ExampleOfTheArchitecture) {
  std::vector<Pixel> corner;
  for (int y = 0; y <= 84; y += 12) {
    for (int x = 0; x <= 84; x += 12) corner.push_back({y, x});
  }
  const Tiling tiling = make_tiling({100, 100}, {16, 16}, corner, 4);
  const Tile& first = tiling.tiles[0];
  EXPECT_EQ(first.owned, (Box{{0, 0}, {50, 50}}));
  EXPECT_EQ(first.ghosted, (Box{{0, 0}, {52, 52}}));
  EXPECT_EQ(first.positions,
            (std::vector{0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27}));
  EXPECT_EQ(tiling.tiles[3].ghosted, (Box{{48, 48}, {100, 100}}));

  const HaloPlan plan = make_halo_plan(tiling, 0);
  ASSERT_EQ(plan.peers.size(), 3u);
  EXPECT_EQ(plan.ghost_pixels(), 204);
  EXPECT_EQ(plan.peers[0].owned_here, (Box{{0, 48}, {50, 50}}));
  EXPECT_EQ(plan.peers[0].ghost_here, (Box{{0, 50}, {50, 52}}));
  EXPECT_EQ(plan.peers[1].owned_here, (Box{{48, 0}, {50, 50}}));
  EXPECT_EQ(plan.peers[1].ghost_here, (Box{{50, 0}, {52, 50}}));
  EXPECT_EQ(plan.peers[2].owned_here, (Box{{48, 48}, {50, 50}}));
  EXPECT_EQ(plan.peers[2].ghost_here, (Box{{50, 50}, {52, 52}}));
  const std::vector<bool> border = touches_ghosts(tiling, 0, corner);
  EXPECT_EQ(std::count(border.begin(), border.end(), true), 7);
}

}  // namespace
}  // namespace tessera::decomposition
