#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/fresh_bytes.hpp"

#include "decoding_threads.hpp"
#include "io/scan_reader.hpp"
#include "pattern_exchange.hpp"
#include "pattern_sums.hpp"
#include "scan_chunks.hpp"
#include "stored_patterns.hpp"

namespace tessera::io {
namespace {

/// A virtual dataset opens other files while it is read, which not all ranks do at once.
std::unique_ptr<ScanReader> open_patterns(const ScanSource& source, const ScanInfo& info,
                                          const comm::Communicator& comm) {
  std::unique_ptr<ScanReader> file;
  comm.together([&] { file = info.format->open(source, info.is_virtual ? nullptr : &comm); });
  return file;
}

/// Reads and prepares this rank's share, piece by piece, and keeps the books on it.
class PieceReader {
 public:
  PieceReader(const ScanSource& source, const ScanInfo& info, ScanReader& file)
      : info_(info), held_out_(source.held_out), stored_(source, info, file), sums_(info.pattern) {}

  /// The patterns of `boxes`, checked and made ready.
  const std::byte* read(const std::vector<Box>& boxes) {
    std::int64_t n_patterns = 0;
    for (const Box& box : boxes) n_patterns += box.area();
    piece_.renew(static_cast<std::size_t>(n_patterns) * pattern_bytes());
    auto* const piece = reinterpret_cast<std::byte*>(piece_.data());
    std::byte* ready = piece;
    for (const Box& box : boxes) {
      stored_.read(box);
      prepare(box, ready);
      ready += static_cast<std::size_t>(box.area()) * pattern_bytes();
    }
    return piece;
  }

  std::size_t pattern_bytes() const { return stored_.pattern_bytes(); }
  std::size_t max_bytes() const { return stored_.max_bytes(); }
  /// Of this rank's share.
  PatternTotals totals() const {
    PatternTotals all = totals_;
    all.sum = sums_.counts;
    all.roots = sums_.roots;
    all.n_ignored = sums_.n_ignored;
    all.bytes_read = stored_.bytes_read();
    return all;
  }

 private:
  /// What was read of `box`, by several threads.
  void prepare(const Box& box, std::byte* ready) {
    positions_.clear();
    for_each_position({&box, 1}, stored_.scan(),
                      [&](int position) { positions_.push_back(position); });
    const std::size_t n = positions_.size();
    moments_.resize(n);
    const int n_threads = decoding_threads(n * stored_.max_bytes());
    const std::size_t at_once = std::max<std::size_t>(1, least_at_once_bytes / pattern_bytes());
    share_failing_work((n + at_once - 1) / at_once, static_cast<std::size_t>(n_threads),
                       [&](std::size_t, std::size_t group) {
                         for (std::size_t i = group * at_once;
                              i < std::min(n, (group + 1) * at_once); ++i)
                           moments_[i] = prepared(i, ready + i * pattern_bytes());
                       });
    keep_books(ready);
    sums_.add(info_, counted_, n_threads);
  }

  /// Pattern `at` of those read last.
  PatternMoments prepared(std::size_t at, std::byte* ready) const {
    const double counts = stored_.prepare(positions_[at], static_cast<std::int64_t>(at), ready);
    if (counts == 0) return {};
    return {counts, centre_of(info_, ready, counts)};
  }

  /// counted_ = those with counts that are not held out.
  void keep_books(const std::byte* ready) {
    counted_.clear();
    for (std::size_t i = 0; i < positions_.size(); ++i) {
      const int position = positions_[i];
      const bool held_out = !held_out_.empty() && held_out_[static_cast<std::size_t>(position)];
      if (moments_[i].counts == 0) totals_.all_zero.push_back(position);
      if (moments_[i].counts == 0 || held_out) continue;
      totals_.total_counts += moments_[i].counts;
      totals_.moments.positions.push_back(position);
      totals_.moments.moments.push_back(moments_[i]);
      counted_.push_back(ready + i * pattern_bytes());
    }
  }

  /// Of patterns that a thread takes in one turn.
  static constexpr std::size_t least_at_once_bytes = std::size_t{64} << 10;

  const ScanInfo& info_;
  const std::vector<bool>& held_out_;
  StoredPatterns stored_;
  FreshBytes piece_;
  PatternTotals totals_;  ///< but for sums_
  PatternSums sums_;
  // Of the box read last:
  std::vector<int> positions_;
  std::vector<PatternMoments> moments_;
  std::vector<const std::byte*> counted_;
};

/// What arrives in one round, packed, and where it belongs.
struct Arrivals {
  std::vector<int> places;
  FreshBytes patterns;
};

/// Who sends what in one round. Every rank works it out for itself: the shares are known to all.
/// @param is_mine by scan position: one of `positions`
/// @param places gets where in `positions` each arriving pattern belongs
PatternRoutes routes_of_round(const ScanChunks& chunks, int round, int per_round,
                              const std::function<int(int)>& owner,
                              const std::vector<bool>& is_mine, std::span<const int> positions,
                              const comm::Communicator& comm, std::vector<int>& places) {
  const auto n_ranks = static_cast<std::size_t>(comm.size());
  PatternRoutes routes{std::vector<std::vector<int>>(n_ranks),
                       std::vector<std::vector<int>>(n_ranks)};
  places.clear();
  for (int reader = 0; reader < comm.size(); ++reader) {
    const FileChunks share = chunks.share(reader, comm.size());
    int place_in_piece = 0;
    for_each_position(
        chunks.boxes(ScanChunks::piece(share, round, per_round)), chunks.scan, [&](int position) {
          if (reader == comm.rank())
            routes.send.at(static_cast<std::size_t>(owner(position))).push_back(place_in_piece++);
          if (!is_mine[static_cast<std::size_t>(position)]) return;
          const auto found = std::lower_bound(positions.begin(), positions.end(), position);
          routes.receive[reader].push_back(static_cast<int>(places.size()));
          places.push_back(static_cast<int>(found - positions.begin()));
        });
  }
  return routes;
}

/// Wrong owners would send patterns past the end of somebody's memory.
/// Collective.
void check_owners(const std::function<int(int)>& owner, std::span<const int> positions,
                  int n_positions, const comm::Communicator& comm) {
  std::array<std::int64_t, 1> n_owned{std::ssize(positions)};
  comm.sum(n_owned);
  bool right = n_owned[0] == n_positions &&
               std::ranges::adjacent_find(positions, std::greater_equal{}) == positions.end();
  for (const int position : positions)
    right = right && position >= 0 && position < n_positions && owner(position) == comm.rank();
  comm.together([&] {
    if (!right)
      throw SystemError(
          "the positions of this rank are not those that it owns, in ascending order");
  });
}

int n_chunks_per_round(const ScanChunks& chunks, std::size_t pattern_bytes,
                       std::int64_t piece_bytes) {
  const auto chunk_bytes = chunks.per_chunk.size() * static_cast<std::int64_t>(pattern_bytes);
  return static_cast<int>(std::clamp<std::int64_t>(piece_bytes / chunk_bytes, 1, chunks.count()));
}

PatternTotals agreed_totals(const PieceReader& reader, const ScanSource& source,
                            const comm::Communicator& comm) {
  PatternTotals totals = reader.totals();
  totals.all_zero = comm.all_gather(std::span<const int>(totals.all_zero));
  std::sort(totals.all_zero.begin(), totals.all_zero.end());
  comm.sum(std::span(&totals.total_counts, 1));
  comm.sum(std::span(totals.sum.data(), totals.sum.size()));
  comm.sum(std::span(totals.roots.data(), totals.roots.size()));
  comm.sum(std::span(totals.n_ignored.data(), totals.n_ignored.size()));
  if (totals.total_counts == 0)
    throw AgreedError(ExitCode::bad_input,
                      text("data.patterns = \"", source.patterns, "\" of \"", source.path,
                           "\" holds nothing but zeros (in valid pixels)"));
  return totals;
}

}  // namespace

/// One rank has read each pattern: the others add zeros.
std::vector<PatternMoments> moments_of_all(const MomentsOfPositions& here, int n_positions,
                                           const comm::Communicator& comm) {
  static_assert(sizeof(PatternMoments) == 3 * sizeof(double));
  std::vector<PatternMoments> all(static_cast<std::size_t>(n_positions));
  for (std::size_t i = 0; i < here.positions.size(); ++i)
    all[static_cast<std::size_t>(here.positions[i])] = here.moments[i];
  comm.sum(std::span(&all.data()->counts, 3 * all.size()));
  return all;
}

PatternTotals read_patterns(const ScanSource& source, const ScanInfo& info,
                            const std::function<int(int)>& owner, std::span<const int> positions,
                            const comm::Communicator& comm, const TakePatterns& take,
                            std::int64_t piece_bytes, const std::function<void()>& before_piece) {
  check_owners(owner, positions, info.n_positions, comm);
  std::vector<bool> is_mine(static_cast<std::size_t>(info.n_positions));
  for (const int position : positions) is_mine[static_cast<std::size_t>(position)] = true;
  const ScanChunks chunks{scan_shape(info.n_positions, info.raster), info.positions_per_chunk};
  const std::unique_ptr<ScanReader> file = open_patterns(source, info, comm);
  std::unique_ptr<PieceReader> reader;
  comm.together([&] { reader = std::make_unique<PieceReader>(source, info, *file); });

  const int per_round = n_chunks_per_round(chunks, reader->max_bytes(), piece_bytes);
  const int largest_share = (chunks.count() + comm.size() - 1) / comm.size();
  const FileChunks share = chunks.share(comm.rank(), comm.size());
  Arrivals arrivals;
  for (int round = 0; round * static_cast<std::int64_t>(per_round) < largest_share; ++round) {
    const std::byte* piece = nullptr;
    const auto read = [&] {
      if (before_piece) before_piece();
      piece = reader->read(chunks.boxes(ScanChunks::piece(share, round, per_round)));
    };
    if (!take) {
      comm.together(read);
      continue;
    }
    const PatternRoutes routes =
        routes_of_round(chunks, round, per_round, owner, is_mine, positions, comm, arrivals.places);
    comm.together([&] {
      read();
      if (comm.size() > 1)
        arrivals.patterns.renew(arrivals.places.size() * reader->pattern_bytes());
    });
    if (comm.size() > 1) {
      auto* const arriving = reinterpret_cast<std::byte*>(arrivals.patterns.data());
      send_to_owners(piece, arriving, routes, reader->pattern_bytes(), comm);
      piece = arriving;
    }
    comm.together([&] { take(arrivals.places, piece); });
  }
  return agreed_totals(*reader, source, comm);
}

}  // namespace tessera::io
