#include <set>

#include <gtest/gtest.h>

#include "scan_chunks.hpp"

namespace tessera::io {
namespace {

struct Case {
  Shape2 scan;
  Shape2 per_chunk;
  int n_ranks;
};

class ScanChunksOf : public ::testing::TestWithParam<Case> {};

TEST_P(ScanChunksOf, EveryPositionIsReadByOneRankOnceAndNoChunkIsShared) {
  const auto [scan, per_chunk, n_ranks] = GetParam();
  const ScanChunks chunks{scan, per_chunk};
  for (const int per_round : {1, 2, 5, 1000}) {
    std::vector<int> times_read(static_cast<std::size_t>(scan.size()), 0);
    std::set<std::pair<int, int>> chunks_seen;
    int n_touched = 0;
    for (int rank = 0; rank < n_ranks; ++rank)
      for (int round = 0; round * per_round < chunks.count(); ++round) {
        const auto boxes =
            chunks.boxes(ScanChunks::piece(chunks.share(rank, n_ranks), round, per_round));
        EXPECT_LE(boxes.size(), 3u);
        for_each_position(boxes, scan, [&](int p) { ++times_read[static_cast<std::size_t>(p)]; });
        std::set<std::pair<int, int>> touched;
        for_each_position(boxes, scan, [&](int p) {
          touched.insert({p / scan.w / per_chunk.h, p % scan.w / per_chunk.w});
        });
        EXPECT_LE(static_cast<int>(touched.size()), per_round);
        n_touched += static_cast<int>(touched.size());
        chunks_seen.merge(touched);
      }
    for (const int times : times_read) EXPECT_EQ(times, 1);
    EXPECT_EQ(n_touched, chunks.count()) << "a chunk is inflated twice";
    EXPECT_EQ(static_cast<int>(chunks_seen.size()), chunks.count());
  }
}

INSTANTIATE_TEST_SUITE_P(Scans, ScanChunksOf,
                         ::testing::Values(Case{{16, 1}, {1, 1}, 3}, Case{{17, 1}, {4, 1}, 4},
                                           Case{{3, 1}, {8, 1}, 6}, Case{{8, 8}, {8, 8}, 2},
                                           Case{{9, 11}, {2, 3}, 5}, Case{{9, 11}, {2, 11}, 6},
                                           Case{{5, 7}, {1, 1}, 4}, Case{{12, 13}, {4, 4}, 3}));

TEST(ScanChunks, AShareIsOneBoxWhenItIsWholeRows) {
  const ScanChunks chunks{{16, 8}, {4, 4}};
  EXPECT_EQ(chunks.boxes({2, 6}), (std::vector<Box>{{{4, 0}, {12, 8}}}));
  EXPECT_EQ(chunks.boxes({1, 7}),
            (std::vector<Box>{{{0, 4}, {4, 8}}, {{4, 0}, {12, 8}}, {{12, 0}, {16, 4}}}));
  EXPECT_TRUE(chunks.boxes({3, 3}).empty());
}

TEST(ScanChunks, ASpreadTakesDifferentPositionsOfFewChunks) {
  for (const ScanChunks& chunks :
       {ScanChunks{{516, 1}, {33, 1}}, ScanChunks{{516, 1}, {1, 1}},
        ScanChunks{{1000, 1}, {1000, 1}}, ScanChunks{{20, 1}, {64, 1}},
        ScanChunks{{64, 64}, {1, 64}}, ScanChunks{{30, 50}, {4, 8}}, ScanChunks{{1, 1}, {1, 1}}})
    for (const int fewest_groups : {4, 16}) {
      const std::vector<Box> groups = chunks.spread(64, fewest_groups);
      std::set<int> positions;
      std::set<std::pair<int, int>> touched;
      int n = 0;
      for_each_position(groups, chunks.scan, [&](int p) {
        ++n;
        positions.insert(p);
        touched.insert(
            {p / chunks.scan.w / chunks.per_chunk.h, p % chunks.scan.w / chunks.per_chunk.w});
      });
      const auto all = static_cast<int>(std::min<std::int64_t>(64, chunks.scan.size()));
      EXPECT_LE(n, all);
      EXPECT_GT(static_cast<int>(positions.size()), all / 2);
      EXPECT_LE(touched.size(), groups.size() + 1);  // the last may lie in two
      EXPECT_TRUE(Box::at({0, 0}, chunks.scan).contains(hull(groups.front(), groups.back())));
    }
}

}  // namespace
}  // namespace tessera::io
