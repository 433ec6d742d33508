#include "io/writers.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <numeric>

#include <sys/uio.h>

#include "tessera/base/progress.hpp"

#include "comm/ranks_of.hpp"
#include "save_steps.hpp"

namespace tessera::io {
namespace {

/// Parts of datasets begin at multiples of it, as large datasets do.
constexpr std::int64_t stripe_bytes = 1 << 20;

struct Piece {
  std::int64_t place = 0;
  std::span<const std::byte> bytes;

  std::int64_t end() const { return place + std::ssize(bytes); }
};

using Head = std::array<std::int64_t, 2>;  ///< place, length
static_assert(sizeof(Head) == piece_head_bytes);

std::vector<Piece> in_order(std::span<const std::byte> bytes) {
  std::vector<Piece> pieces;
  while (!bytes.empty()) {
    Head head{};
    std::memcpy(head.data(), bytes.data(), sizeof head);
    const auto n = static_cast<std::size_t>(head[1]);
    pieces.push_back({head[0], bytes.subspan(sizeof head, n)});
    bytes = bytes.subspan(sizeof head + n);
  }
  std::ranges::sort(pieces, {}, &Piece::place);
  return pieces;
}

/// Neighbours, as many as one call takes.
std::span<const Piece> neighbours(std::span<const Piece> pieces) {
  constexpr std::int64_t most_bytes = 16 << 20;
  std::size_t n = 1;
  while (n < pieces.size() && n < IOV_MAX && pieces[n].place == pieces[n - 1].end() &&
         pieces[n].end() - pieces[0].place <= most_bytes)
    ++n;
  return pieces.first(n);
}

/// A call that comes to no end, as on a full disk, is followed by one for each piece, which tells.
void write_neighbours(int descriptor, const std::string& path, std::span<const Piece> pieces) {
  std::vector<iovec> parts;
  for (const Piece& piece : pieces)
    parts.push_back({const_cast<std::byte*>(piece.bytes.data()), piece.bytes.size()});
  note_progress();
  const ssize_t written =
      ::pwritev(descriptor, parts.data(), static_cast<int>(parts.size()), pieces.front().place);
  if (written == pieces.back().end() - pieces.front().place) return;
  for (const Piece& piece : pieces)
    write_at(descriptor, path, piece.place, reinterpret_cast<const char*>(piece.bytes.data()),
             std::ssize(piece.bytes));
}

}  // namespace

std::vector<int> writers_of(const comm::Communicator& comm, int per_host) {
  const comm::Communicator host = comm::ranks_of_host(comm);
  // Spread over the host's ranks, and with them over its sockets.
  const std::int64_t n = std::min(per_host, host.size());
  const bool writes = host.rank() * n % host.size() < n;
  const int number = comm.rank();
  return comm.all_gather(writes ? std::span(&number, 1) : std::span<const int>());
}

WriterShare share_at(std::int64_t at, std::int64_t dataset_bytes, std::size_t dataset,
                     int n_writers) {
  const std::int64_t n_stripes = (dataset_bytes - 1) / stripe_bytes + 1;
  const std::int64_t part_bytes = ((n_stripes - 1) / n_writers + 1) * stripe_bytes;
  const std::int64_t part = at / part_bytes;
  const auto first = static_cast<std::int64_t>(dataset % static_cast<std::size_t>(n_writers));
  return {static_cast<int>((first + part) % n_writers), part * part_bytes,
          std::min((part + 1) * part_bytes, dataset_bytes)};
}

void append_piece(Pieces& pieces, std::int64_t place, const char* bytes, std::int64_t n_bytes) {
  const Head head{place, n_bytes};
  const auto append = [&](const void* from, std::size_t n) {
    const auto* begin = static_cast<const std::byte*>(from);
    pieces.insert(pieces.end(), begin, begin + n);
  };
  append(head.data(), sizeof head);
  append(bytes, static_cast<std::size_t>(n_bytes));
}

/// Communicator::exchange would copy all of it twice more, to memory that it has to get first.
FreshBytes hand_over(const std::vector<Pieces>& to, const std::vector<int>& writers,
                     const comm::Communicator& comm, CopyMemory& memory) {
  const Doing doing("handing a save to those who write it");
  const auto n_ranks = static_cast<std::size_t>(comm.size());
  std::vector<int> leaves(n_ranks);
  for (std::size_t i = 0; i < to.size(); ++i)
    leaves[static_cast<std::size_t>(writers[i])] = static_cast<int>(to[i].size());
  std::vector<int> arrives(n_ranks);
  comm::check_mpi(
      MPI_Alltoall(leaves.data(), 1, MPI_INT, arrives.data(), 1, MPI_INT, comm.handle()));
  FreshBytes come = memory.take(std::accumulate(arrives.begin(), arrives.end(), std::size_t{0}));
  std::vector<MPI_Request> requests;
  constexpr int tag = 0;
  char* next = come.data();
  for (int rank = 0; rank < comm.size(); ++rank) {
    const int n = arrives[static_cast<std::size_t>(rank)];
    if (n == 0) continue;
    comm::check_mpi(
        MPI_Irecv(next, n, MPI_BYTE, rank, tag, comm.handle(), &requests.emplace_back()));
    next += n;
  }
  for (std::size_t i = 0; i < to.size(); ++i)
    if (!to[i].empty())
      comm::check_mpi(MPI_Isend(to[i].data(), static_cast<int>(to[i].size()), MPI_BYTE, writers[i],
                                tag, comm.handle(), &requests.emplace_back()));
  comm::check_mpi(
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
  return come;
}

void write_pieces(int descriptor, const std::string& path, std::span<const std::byte> pieces) {
  const std::vector<Piece> ordered = in_order(pieces);
  for (std::span<const Piece> left = ordered; !left.empty();) {
    const std::span<const Piece> now = neighbours(left);
    write_neighbours(descriptor, path, now);
    left = left.subspan(now.size());
  }
}

}  // namespace tessera::io
