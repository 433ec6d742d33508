#include "comm/pieces.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "tessera/base/progress.hpp"
#include "tessera/comm/communicator.hpp"

namespace tessera::comm {
namespace {

using Counts = std::vector<std::int64_t>;

Counts begins_of(const Counts& count) {
  Counts begin(count.size(), 0);
  std::partial_sum(count.begin(), count.end() - 1, begin.begin() + 1);
  return begin;
}

std::int64_t total(const Counts& count) {
  return std::accumulate(count.begin(), count.end(), std::int64_t{0});
}

/// The part of every rank's bytes that one call carries.
struct Piece {
  Counts first;  ///< of each rank's bytes
  std::vector<int> count;
  std::vector<int> begin;  ///< in the call's memory
  std::vector<std::byte> bytes;

  Piece(const Counts& all, std::int64_t round, std::int64_t piece_bytes)
      : first(all.size()), count(all.size()), begin(all.size()) {
    int at = 0;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      first[rank] = std::min(round * piece_bytes, all[rank]);
      count[rank] = static_cast<int>(std::min(piece_bytes, all[rank] - first[rank]));
      begin[rank] = at;
      at += count[rank];
    }
    bytes.resize(static_cast<std::size_t>(at));
  }

  /// To where each rank's bytes begin in `all`.
  void put(std::vector<std::byte>& all, const Counts& begin_of_rank) const {
    for (std::size_t rank = 0; rank < count.size(); ++rank)
      std::copy_n(bytes.data() + begin[rank], count[rank],
                  all.data() + begin_of_rank[rank] + first[rank]);
  }
};

/// Of one rank to another in one call: everything if that fits, else an equal share.
/// @param most_at_a_rank bytes that a rank sends or receives in all
std::int64_t piece_bytes_of(std::int64_t most_of_a_pair, std::int64_t most_at_a_rank,
                            std::size_t n_ranks, std::int64_t largest_bytes) {
  if (most_at_a_rank <= largest_bytes) return most_of_a_pair;
  return std::max<std::int64_t>(1, largest_bytes / static_cast<std::int64_t>(n_ranks));
}

}  // namespace

std::vector<std::byte> gather_in_pieces(std::span<const std::byte> bytes, MPI_Comm comm,
                                        std::int64_t largest_bytes) {
  const Doing doing("an all-gather");
  int n_ranks = 0;
  check_mpi(MPI_Comm_size(comm, &n_ranks));
  const std::int64_t mine = std::ssize(bytes);
  Counts count(static_cast<std::size_t>(n_ranks));
  check_mpi(MPI_Allgather(&mine, 1, MPI_INT64_T, count.data(), 1, MPI_INT64_T, comm));
  const Counts begin = begins_of(count);
  const std::int64_t most = *std::ranges::max_element(count);
  const std::int64_t piece_bytes = piece_bytes_of(most, total(count), count.size(), largest_bytes);
  std::vector<std::byte> all(static_cast<std::size_t>(total(count)));
  for (std::int64_t round = 0; round * piece_bytes < most; ++round) {
    Piece piece(count, round, piece_bytes);
    const std::int64_t first = std::min(round * piece_bytes, mine);
    check_mpi(MPI_Allgatherv(
        bytes.data() + first, static_cast<int>(std::min(piece_bytes, mine - first)), MPI_BYTE,
        piece.bytes.data(), piece.count.data(), piece.begin.data(), MPI_BYTE, comm));
    piece.put(all, begin);
  }
  return all;
}

std::vector<std::byte> exchange_in_pieces(std::span<const std::span<const std::byte>> to,
                                          MPI_Comm comm, std::int64_t largest_bytes) {
  const Doing doing("an exchange of all with all");
  Counts sent;
  for (const auto& part : to) sent.push_back(std::ssize(part));
  Counts count(sent.size());
  check_mpi(MPI_Alltoall(sent.data(), 1, MPI_INT64_T, count.data(), 1, MPI_INT64_T, comm));
  std::array<std::int64_t, 2> most{*std::ranges::max_element(sent),
                                   std::max(total(sent), total(count))};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, most.data(), 2, MPI_INT64_T, MPI_MAX, comm));
  const std::int64_t piece_bytes = piece_bytes_of(most[0], most[1], to.size(), largest_bytes);
  const Counts begin = begins_of(count);
  std::vector<std::byte> come(static_cast<std::size_t>(total(count)));
  for (std::int64_t round = 0; round * piece_bytes < most[0]; ++round) {
    Piece leaving(sent, round, piece_bytes);
    for (std::size_t rank = 0; rank < to.size(); ++rank)
      std::copy_n(to[rank].data() + leaving.first[rank], leaving.count[rank],
                  leaving.bytes.data() + leaving.begin[rank]);
    Piece coming(count, round, piece_bytes);
    check_mpi(MPI_Alltoallv(leaving.bytes.data(), leaving.count.data(), leaving.begin.data(),
                            MPI_BYTE, coming.bytes.data(), coming.count.data(), coming.begin.data(),
                            MPI_BYTE, comm));
    coming.put(come, begin);
  }
  return come;
}

}  // namespace tessera::comm
