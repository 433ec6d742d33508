#pragma once
/// Exchanges of any number of bytes, in calls that MPI can count.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <mpi.h>

namespace tessera::comm {

/// No call of MPI sends or receives more on a rank: its counts and offsets are ints.
inline constexpr std::int64_t largest_call_bytes = 1 << 30;

/// Everybody's bytes, in rank order. Collective.
std::vector<std::byte> gather_in_pieces(std::span<const std::byte> bytes, MPI_Comm comm,
                                        std::int64_t largest_bytes = largest_call_bytes);

/// `to[rank]` goes to that rank; what has come, in the order of the ranks. Collective.
std::vector<std::byte> exchange_in_pieces(std::span<const std::span<const std::byte>> to,
                                          MPI_Comm comm,
                                          std::int64_t largest_bytes = largest_call_bytes);

}  // namespace tessera::comm
