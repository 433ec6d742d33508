#pragma once
/// Few ranks of each host that write for all: pieces of a file on their way to them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tessera/comm/communicator.hpp"
#include "tessera/io/fresh_bytes.hpp"

namespace tessera::io {

/// More than that is not gathered on a rank: large tiles have large pieces anyway.
inline constexpr std::int64_t most_gathered_bytes = 256 << 20;

/// At most `per_host` ranks of each host, in their order. Collective.
std::vector<int> writers_of(const comm::Communicator& comm, int per_host);

/// Bytes [begin, end) of a dataset, and who writes them.
struct WriterShare {
  int writer;  ///< its place among the writers
  std::int64_t begin;
  std::int64_t end;
};

/// Where byte `at` of a dataset belongs. Each writer has one part of it, in whole stripes; the
/// parts of the next dataset begin with the next writer.
WriterShare share_at(std::int64_t at, std::int64_t dataset_bytes, std::size_t dataset,
                     int n_writers);

/// As pieces travel: place, length, bytes; and the next.
using Pieces = std::vector<std::byte>;
inline constexpr std::size_t piece_head_bytes = 16;

void append_piece(Pieces& pieces, std::int64_t place, const char* bytes, std::int64_t n_bytes);

/// `to[i]`, each below 2^31 bytes, goes to rank writers[i]. @return what has come. Collective.
FreshBytes hand_over(const std::vector<Pieces>& to, const std::vector<int>& writers,
                     const comm::Communicator& comm, CopyMemory& memory);

/// In the order of the file, neighbours in one write. @throws InputError: the disk is full
void write_pieces(int descriptor, const std::string& path, std::span<const std::byte> pieces);

}  // namespace tessera::io
