#include "scan_chunks.hpp"

#include <algorithm>
#include <cstdint>

namespace tessera::io {

FileChunks ScanChunks::share(int rank, int n_ranks) const {
  const auto first = [&](int r) {
    return static_cast<int>(static_cast<std::int64_t>(count()) * r / n_ranks);
  };
  return {first(rank), first(rank + 1)};
}

FileChunks ScanChunks::piece(FileChunks share, int round, int per_round) {
  const auto bound = [&](int r) {
    const std::int64_t at = share.begin + static_cast<std::int64_t>(r) * per_round;
    return static_cast<int>(std::min<std::int64_t>(share.end, at));
  };
  return {bound(round), bound(round + 1)};
}

std::vector<Box> ScanChunks::boxes(FileChunks range) const {
  std::vector<Box> found;
  // Chunks of rows [y0, y1) and columns [x0, x1), in scan positions.
  const auto add = [&](int y0, int y1, int x0, int x1) {
    const Box box{{y0 * per_chunk.h, x0 * per_chunk.w},
                  {std::min(scan.h, y1 * per_chunk.h), std::min(scan.w, x1 * per_chunk.w)}};
    if (!box.empty()) found.push_back(box);
  };
  const int n = columns();
  while (range.begin < range.end) {
    const int row = range.begin / n;
    const int column = range.begin % n;
    const int whole_rows = column == 0 ? (range.end - range.begin) / n : 0;
    if (whole_rows > 0) {
      add(row, row + whole_rows, 0, n);
      range.begin += whole_rows * n;
    } else {
      const int last = std::min(n, column + range.end - range.begin);
      add(row, row + 1, column, last);
      range.begin += last - column;
    }
  }
  return found;
}

std::vector<Box> ScanChunks::spread(int max_positions, int fewest_groups) const {
  constexpr int most_together = 16;
  const auto n_positions = static_cast<int>(scan.size());
  const int n = std::min(max_positions, n_positions);
  const bool is_line = scan.w == 1;
  const int along = is_line ? scan.h : scan.w;
  const int of_chunk = is_line ? per_chunk.h : per_chunk.w;
  const int together =
      std::clamp(of_chunk, 1, std::min({most_together, along, std::max(1, n / fewest_groups)}));
  std::vector<Box> found;
  for (int i = 0; i < n / together; ++i) {
    const auto first = static_cast<int>(std::int64_t{i} * n_positions / (n / together));
    const int at = is_line ? first : first % along;
    const int in_chunk = std::min(at % of_chunk, of_chunk - together);
    const int begin = std::min(at - at % of_chunk + in_chunk, along - together);
    found.push_back(is_line ? Box::at({begin, 0}, {together, 1})
                            : Box::at({first / along, begin}, {1, together}));
  }
  return found;
}

}  // namespace tessera::io
