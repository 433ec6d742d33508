// The messages of batches over random scans on up to 64 tiles, all of them in this process, against
// images in which every window is painted.

#include <algorithm>

#include <gtest/gtest.h>

#include "tessera/base/image_stack.hpp"
#include "tessera/decomposition/batch_halo.hpp"
#include "tessera/decomposition/batch_schedule.hpp"

#include "decomposition/random_scans.hpp"
#include "support/allocations.hpp"

namespace tessera::decomposition {
namespace {

constexpr BatchOrder orders[] = {BatchOrder::spread, BatchOrder::random, BatchOrder::compact};

struct Job {
  explicit Job(std::uint64_t seed)
      : scan(testing::random_scan(seed)),
        tiling(make_tiling(scan.grid.object, scan.grid.window, scan.grid.corner, scan.n_tiles)),
        tile_of(tile_of_positions(tiling, scan.grid.corner)) {
    const int n = static_cast<int>(scan.grid.corner.size());
    for (int i = 0; i < n; ++i) positions.push_back(i);
    batch_size = 1 + static_cast<int>(random_bits(seed, 77) % n);
    n_batches = (n - 1) / batch_size + 1;
    for (int rank = 0; rank < scan.n_tiles; ++rank) {
      plans.push_back(make_halo_plan(tiling, rank));
      halos.emplace_back(plans.back(), windows(), n_batches);
    }
  }
  ScanWindows windows() const { return {scan.grid.window, scan.grid.corner, tile_of}; }
  BatchSchedule schedule(BatchOrder order) const {
    return {positions, scan.grid.corner, batch_size, order, 1};
  }

  testing::RandomScan scan;
  Tiling tiling;
  std::vector<int> tile_of;
  std::vector<int> positions;
  int batch_size = 1;
  int n_batches = 1;
  std::vector<HaloPlan> plans;
  std::vector<BatchHalo> halos;  ///< by rank
};

/// Calls check(job, positions of the batch, its number) for batches of many jobs, all orders.
template <class Check>
void for_each_batch(const Check& check) {
  for (std::uint64_t seed = 0; seed < testing::n_random_scans; seed += 2) {
    Job job(seed);
    SCOPED_TRACE(job.scan.name);
    BatchSchedule schedule = job.schedule(orders[seed / 2 % 3]);
    for (int epoch = 0; epoch < 2; ++epoch) {
      schedule.start_epoch(epoch);
      const auto lay_out = [&] {
        for (BatchHalo& halo : job.halos) {
          halo.clear();
          for (int b = 0; b < job.n_batches; ++b) halo.add_batch(schedule.batch(b));
        }
      };
      lay_out();
      const int before = testing::n_allocations();
      lay_out();  // once there is room nothing is allocated
      EXPECT_EQ(testing::n_allocations(), before);
      for (int b = 0; b < job.n_batches; ++b) check(job, schedule.batch(b), b);
    }
  }
}

/// The pixels of a message in the object, in their order.
std::vector<Box> boxes(const Job& job, int rank, const MessagePieces& message) {
  std::vector<Box> in_object;
  int n_rows = 0;
  int n_pixels = 0;
  for (const Piece& piece : job.halos[rank].pieces().subspan(message.begin, message.count)) {
    EXPECT_EQ(piece.first_row, n_rows);
    EXPECT_EQ(piece.first_pixel, n_pixels);
    in_object.push_back(moved(piece.box, job.plans[rank].ghosted.begin));
    n_rows += piece.box.height();
    n_pixels += static_cast<int>(piece.box.area());
  }
  EXPECT_EQ(message.n_rows, n_rows);
  EXPECT_EQ(message.n_pixels, n_pixels);
  return in_object;
}

ImageStack<int> painted(const Job& job, std::span<const int> positions, int tile) {
  ImageStack<int> image(1, job.scan.grid.object);
  for (const int i : positions) {
    if (tile >= 0 && job.tile_of[i] != tile) continue;
    const Box window = Box::at(job.scan.grid.corner[i], job.scan.grid.window);
    for (int y = window.begin.y; y < window.end.y; ++y)
      for (int x = window.begin.x; x < window.end.x; ++x) image(0, y, x) = 1;
  }
  return image;
}

/// The rectangles lie in `box` and hold its painted pixels, each once, and no other.
void expect_exactly(const std::vector<Box>& rectangles, const ImageStack<int>& image,
                    const Box& box) {
  const auto n_painted = [&](const Box& in) {
    std::int64_t n = 0;
    for (int y = in.begin.y; y < in.end.y; ++y)
      for (int x = in.begin.x; x < in.end.x; ++x) n += image(0, y, x);
    return n;
  };
  std::int64_t n_held = 0;
  for (std::size_t i = 0; i < rectangles.size(); ++i) {
    EXPECT_TRUE(box.contains(rectangles[i]));
    EXPECT_EQ(n_painted(rectangles[i]), rectangles[i].area());
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_TRUE(intersection(rectangles[i], rectangles[j]).empty());
    n_held += rectangles[i].area();
  }
  EXPECT_EQ(n_held, n_painted(box));
}

TEST(BatchHalo, MessagesHoldTheGhostsThatTheBatchReachesAndNothingElse) {
  for_each_batch([](const Job& job, std::span<const int> positions, int batch) {
    const ImageStack<int> by_any = painted(job, positions, -1);
    for (int rank = 0; rank < job.scan.n_tiles; ++rank) {
      const ImageStack<int> by_rank = painted(job, positions, rank);
      const std::span<const PeerMessages> messages = job.halos[rank].batch(batch);
      ASSERT_EQ(messages.size(), job.plans[rank].peers.size());
      for (std::size_t p = 0; p < messages.size(); ++p) {
        const PeerBoxes& peer = job.plans[rank].peers[p];
        expect_exactly(boxes(job, rank, messages[p].to_owners.send), by_rank, peer.ghost_here);
        expect_exactly(boxes(job, rank, messages[p].to_ghosts.send), by_any, peer.owned_here);
        expect_exactly(boxes(job, rank, messages[p].to_ghosts.receive), by_any, peer.ghost_here);
      }
    }
  });
}

TEST(BatchHalo, BothSidesOfAMessageHoldTheSamePixelsInTheSameOrder) {
  for_each_batch([](const Job& job, std::span<const int>, int batch) {
    for (int rank = 0; rank < job.scan.n_tiles; ++rank) {
      const auto& peers = job.plans[rank].peers;
      for (std::size_t p = 0; p < peers.size(); ++p) {
        const int peer = peers[p].peer;
        const auto& back = job.plans[peer].peers;
        const auto here = std::ranges::find(back, rank, &PeerBoxes::peer) - back.begin();
        const PeerMessages& mine = job.halos[rank].batch(batch)[p];
        const PeerMessages& theirs = job.halos[peer].batch(batch)[here];
        EXPECT_EQ(boxes(job, rank, mine.to_owners.send),
                  boxes(job, peer, theirs.to_owners.receive));
        EXPECT_EQ(boxes(job, rank, mine.to_ghosts.send),
                  boxes(job, peer, theirs.to_ghosts.receive));
      }
    }
  });
}

TEST(BatchHalo, TheWholeHaloIsTheBoxesOfThePlan) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Job job(seed);
    for (const HaloPlan& plan : job.plans) {
      const HaloMessages whole = whole_halo(plan);
      ASSERT_EQ(whole.peers.size(), plan.peers.size());
      for (std::size_t p = 0; p < plan.peers.size(); ++p) {
        const auto expect_box = [&](const MessagePieces& message, const Box& box) {
          ASSERT_EQ(message.count, box.empty() ? 0 : 1);
          EXPECT_EQ(message.n_pixels, box.area());
          const auto pieces = std::span(whole.pieces).subspan(message.begin, message.count);
          for (const Piece& piece : pieces) EXPECT_EQ(moved(piece.box, plan.ghosted.begin), box);
        };
        expect_box(whole.peers[p].to_owners.send, plan.peers[p].ghost_here);
        expect_box(whole.peers[p].to_owners.receive, plan.peers[p].owned_here);
        expect_box(whole.peers[p].to_ghosts.send, plan.peers[p].owned_here);
        expect_box(whole.peers[p].to_ghosts.receive, plan.peers[p].ghost_here);
      }
    }
  }
}

}  // namespace
}  // namespace tessera::decomposition
