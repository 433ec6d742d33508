#pragma once
/// The kernel that moves messages and sums between the GPUs of a host, through boxes in each
/// other's memory.

#include <cstddef>
#include <cstdint>

#include "peer_memory.hpp"

namespace tessera::halo::peer_kernel {

using Count = unsigned;  ///< of what a block has done; it may wrap

constexpr int threads = 1024;
constexpr int max_ranks = PeerMemory::max_ranks;
constexpr std::int64_t box_bytes = 64 << 10;

/// Where things lie in the memory of each rank. A block has boxes of its own at every other rank,
/// two for messages and two for sums: it writes one while the other is read.
struct Layout {
  int n_ranks;
  int n_blocks;

  __host__ __device__ std::int64_t flags() const { return std::int64_t{n_ranks} * n_blocks; }
  /// Flag `kind` that rank `writer` raises: boxes that it has filled, has emptied, has shared.
  __device__ Count* flag(std::byte* memory, int kind, int writer, int block) const {
    return reinterpret_cast<Count*>(memory) + kind * flags() + writer * n_blocks + block;
  }
  __host__ __device__ std::int64_t boxes_begin() const {
    return (3 * flags() * static_cast<std::int64_t>(sizeof(Count)) + 255) / 256 * 256;
  }
  /// @param kind 0: messages; 1: sums
  __device__ std::byte* box(std::byte* memory, int kind, int writer, int block,
                            Count number) const {
    const std::int64_t at = ((kind * n_ranks + writer) * n_blocks + block) * 2 + number % 2;
    return memory + boxes_begin() + at * box_bytes;
  }
  std::int64_t bytes() const { return boxes_begin() + 4 * flags() * box_bytes; }
};

enum Flag { filled, emptied, shared };

struct Peers {
  Layout layout;
  int rank;
  std::byte* memory[max_ranks];
  Count* counts;   ///< own: boxes filled, boxes read, by peer and block; sums, by block
  Count* n_added;  ///< own: blocks of an exchange under way that have added all that they add
  const volatile int* gives_up;
};

__device__ __forceinline__ void raise(Count* flag, Count value) {
  __threadfence_system();
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(flag)),
               "r"(value)
               : "memory");
}

/// Until the flag has come to `least`.
__device__ __forceinline__ void wait_for(const Count* flag, Count least,
                                         const volatile int* gives_up) {
  for (int i = 1;; ++i) {
    Count value;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
                 : "=r"(value)
                 : "l"(__cvta_generic_to_global(flag))
                 : "memory");
    if (static_cast<int>(value - least) >= 0 || (i % 1024 == 0 && *gives_up)) return;
  }
}

/// What a block takes of n numbers or pixels, in boxes of so many: the same on both sides.
struct Part {
  std::int64_t begin;
  std::int64_t end;
  int in_box;
  __device__ Part(std::int64_t n, int block, int n_blocks, int fits_in_box) : in_box(fits_in_box) {
    constexpr std::int64_t unit = 32;  // what a warp takes lies together
    const std::int64_t share = ((n + n_blocks - 1) / n_blocks + unit - 1) / unit * unit;
    begin = min(block * share, n);
    end = min(begin + share, n);
  }
  __device__ int n_boxes() const { return static_cast<int>((end - begin + in_box - 1) / in_box); }
  __device__ std::int64_t begin_of(int box) const {
    return begin + static_cast<std::int64_t>(box) * in_box;
  }
  __device__ int count_of(int box) const {
    return static_cast<int>(min(static_cast<std::int64_t>(in_box), end - begin_of(box)));
  }
};

template <class T>
struct Exchange {
  PeerFields<T> fields;
  int n_messages;
  PeerMessage<T> messages[max_ranks - 1];

  __device__ int numbers_per_pixel() const {
    int numbers = fields.n == 0 ? 1 : 0;
    for (int i = 0; i < fields.n; ++i)
      numbers += fields.fields[i].n_planes * fields.fields[i].n_components;
    return numbers;
  }
};

/// The last of the n pieces that begins no later than `pixel` of the message, which is `begin` or
/// not far behind it.
__device__ __forceinline__ int piece_at(const decomposition::Piece* pieces, int begin, int n,
                                        int pixel) {
  int end = begin + 1;
  for (int step = 1; end < n && pieces[end].first_pixel <= pixel; step *= 2) {
    begin = end;
    end = min(begin + step, n);
  }
  while (end - begin > 1) {
    const int middle = (begin + end) / 2;
    (pieces[middle].first_pixel <= pixel ? begin : end) = middle;
  }
  return begin;
}

/// f(number, its place in a box) for all numbers of `count` pixels from `first` on, by all threads
/// of a block. Of pixels a component lies beside itself in the box, so that warps write rows.
template <class T, class F>
__device__ __forceinline__ void for_each_number(const PeerFields<T>& fields,
                                                const PeerNumbers<T>& numbers, std::int64_t first,
                                                int count, const F& f) {
  const std::int64_t n_tile = static_cast<std::int64_t>(fields.tile.h) * fields.tile.w;
  int number_of_piece = 0;
  for (int k = static_cast<int>(threadIdx.x); k < count; k += threads) {
    if (fields.n == 0) {
      f(numbers.buffer[first + k], k);
      continue;
    }
    const int pixel = static_cast<int>(first) + k;
    number_of_piece = piece_at(numbers.pieces, number_of_piece, numbers.n_pieces, pixel);
    const decomposition::Piece piece = numbers.pieces[number_of_piece];
    const int width = piece.box.end.x - piece.box.begin.x;
    const int in_piece = pixel - piece.first_pixel;
    const int y = in_piece / width;
    const std::int64_t in_tile = static_cast<std::int64_t>(piece.box.begin.y + y) * fields.tile.w +
                                 piece.box.begin.x + (in_piece - y * width);
    int at = k;
    for (int i = 0; i < fields.n; ++i) {
      const auto& [data, n_planes, n_components] = fields.fields[i];
      for (int plane = 0; plane < n_planes; ++plane)
        for (int c = 0; c < n_components; ++c, at += count)
          f(data[(plane * n_tile + in_tile) * n_components + c], at);
    }
  }
}

/// Sums of several messages have one order: a block of message y adds when all blocks of those
/// before are done. Messages are in the order of their peers, so of all pairs of ranks, by the
/// lower and then the higher, one waits for earlier ones alone.
__device__ __forceinline__ void wait_for_turn(const Peers& peers, int y) {
  wait_for(peers.n_added, static_cast<Count>(y * peers.layout.n_blocks), peers.gives_up);
}
/// Also of a block that adds nothing. The last of all leaves the count to the next exchange.
__device__ __forceinline__ void end_turn(const Peers& peers, int y, int n_messages) {
  wait_for_turn(peers, y);
  __threadfence();
  const auto n = static_cast<Count>(n_messages * peers.layout.n_blocks);
  if (atomicAdd(peers.n_added, 1) == n - 1) atomicExch(peers.n_added, 0);
}

/// Message y of the exchange.
template <class T>
__device__ void exchange(const Peers& peers, const Exchange<T>& all, int y, int block) {
  const Layout& layout = peers.layout;
  const PeerFields<T>& fields = all.fields;
  const PeerMessage<T>& message = all.messages[y];
  const int in_box = static_cast<int>(box_bytes / sizeof(T)) / all.numbers_per_pixel();
  const Part sent(message.send.n, block, layout.n_blocks, in_box);
  const Part received(message.receive.n, block, layout.n_blocks, in_box);
  std::byte* const here = peers.memory[peers.rank];
  std::byte* const there = peers.memory[message.peer];
  Count* const counts = peers.counts + message.peer * layout.n_blocks + block;
  Count n_sent = counts[0];
  Count n_received = counts[layout.flags()];
  const bool leads = threadIdx.x == 0;
  for (int i = 0; i < max(sent.n_boxes(), received.n_boxes()); ++i) {
    if (i < sent.n_boxes()) {
      if (leads)
        wait_for(layout.flag(here, emptied, message.peer, block), n_sent - 1, peers.gives_up);
      __syncthreads();
      T* const box = reinterpret_cast<T*>(layout.box(there, 0, peers.rank, block, n_sent));
      for_each_number(fields, message.send, sent.begin_of(i), sent.count_of(i),
                      [&](const T& number, int at) { box[at] = number; });
      __syncthreads();
      ++n_sent;
      if (leads) raise(layout.flag(there, filled, peers.rank, block), n_sent);
    }
    if (i < received.n_boxes()) {
      if (leads)
        wait_for(layout.flag(here, filled, message.peer, block), n_received + 1, peers.gives_up);
      if (leads && fields.adds) wait_for_turn(peers, y);
      __syncthreads();
      const T* const box =
          reinterpret_cast<const T*>(layout.box(here, 0, message.peer, block, n_received));
      // What others wrote lies in the second-level cache.
      for_each_number(fields, message.receive, received.begin_of(i), received.count_of(i),
                      [&](T& number, int at) {
                        const T value = __ldcg(box + at);
                        number = fields.adds ? number + value : value;
                      });
      __syncthreads();
      ++n_received;
      if (leads) raise(layout.flag(there, emptied, peers.rank, block), n_received);
    }
  }
  if (leads) {
    counts[0] = n_sent;
    counts[layout.flags()] = n_received;
    if (fields.adds) end_turn(peers, y, all.n_messages);
  }
}

/// Everybody writes to everybody, and adds up in the order of the ranks. A box is written again
/// after all have been heard of for the next one, so they have read it.
/// @tparam adds or takes what rank 0 has
/// @param n of which each block's part fits into a box
template <class T, bool adds>
__device__ void share(const Peers& peers, T* values, std::int64_t n, int block) {
  const Layout& layout = peers.layout;
  const Part part(n, block, layout.n_blocks, static_cast<int>(box_bytes / sizeof(T)));
  const int count = part.count_of(0);
  if (count == 0) return;
  T* const mine = values + part.begin;
  std::byte* const here = peers.memory[peers.rank];
  Count* const counted = peers.counts + 2 * layout.flags() + block;
  const Count number = *counted;
  for (int i = 1; i < layout.n_ranks; ++i) {
    const int other = (peers.rank + i) % layout.n_ranks;
    T* const box =
        reinterpret_cast<T*>(layout.box(peers.memory[other], 1, peers.rank, block, number));
    for (int k = static_cast<int>(threadIdx.x); k < count; k += threads) box[k] = mine[k];
  }
  __syncthreads();
  const int other = static_cast<int>(threadIdx.x);
  if (other < layout.n_ranks && other != peers.rank) {
    raise(layout.flag(peers.memory[other], shared, peers.rank, block), number + 1);
    wait_for(layout.flag(here, shared, other, block), number + 1, peers.gives_up);
  }
  __syncthreads();
  const int n_added = adds ? layout.n_ranks : 1;
  for (int k = static_cast<int>(threadIdx.x); k < count; k += threads) {
    T sum = 0;
    for (int r = 0; r < n_added; ++r) {
      const T* const box = reinterpret_cast<const T*>(layout.box(here, 1, r, block, number));
      const T value = r == peers.rank ? mine[k] : __ldcg(box + k);
      sum = r == 0 ? value : sum + value;
    }
    mine[k] = sum;
  }
  if (threadIdx.x == 0) *counted = number + 1;
}

/// Block x of message y, or of what is shared behind the last.
template <class T, bool adds>
__global__ void __launch_bounds__(threads, 1)
    travel_kernel(const __grid_constant__ Peers peers, const __grid_constant__ Exchange<T> all,
                  T* values, std::int64_t n) {
  const int block = static_cast<int>(blockIdx.x);
  const int y = static_cast<int>(blockIdx.y);
  if (y < all.n_messages)
    exchange(peers, all, y, block);
  else
    share<T, adds>(peers, values, n, block);
}

}  // namespace tessera::halo::peer_kernel
