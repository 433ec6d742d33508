#pragma once
/// What kernels that keep windows on the chip have in its shared memory, and which windows a block
/// takes.

#include "bulk_copy_cuda.cuh"
#include "hot_path_detector.cuh"
#include "hot_path_window.cuh"
#include "window_fft_cuda.cuh"

namespace tessera::physics::hot_path {

constexpr int warps = 16;
constexpr int threads = 32 * warps;
constexpr int shared_bytes = 227 << 10;

/// Number of the thread's warp, alike in all its threads, and the compiler knows it: loops that it
/// believes to part a warp leave no address in uniform registers, and spill others.
__device__ __forceinline__ int warp_of_block() {
  return __shfl_sync(~0U, static_cast<int>(threadIdx.x) / 32, 0);
}

/// The slice of its window that a warp has.
template <int n>
__device__ __forceinline__ int slice_of(int warp) {
  using S = Slices<n>;
  if constexpr (S::blocks > 1)
    return static_cast<int>(rank_in_cluster()) + S::blocks * warp;
  else
    return warp % S::count;
}

/// Blocks that work on a window together, where none has more than a mode.
template <int n, int shares>
__host__ __device__ inline int blocks_of_window(const ScanArrays& scan) {
  return shares > 0 ? scan.n_modes : Slices<n>::blocks;
}

/// What the shared memory of a block holds.
/// @tparam Count of patterns that come to the chip ahead: those of one mode in one block
/// @tparam shares 0: one mode. Else a cluster of blocks works on a window, each on one mode, and
/// each compares up to `shares` eighths of the pixels with the counts.
/// @tparam shifts the probe for every place
/// @tparam in_turn each block works on several modes in turn: nothing of the probe's sum stays
template <int n, class Count, int shares, bool shifts = false, bool in_turn = false>
struct OnChip {
  using S = Slices<n>;
  static constexpr int windows = windows_at_a_time(n);
  static constexpr bool of_modes = shares > 0;
  static constexpr bool takes_counts = shares == 0 && S::blocks == 1;
  static constexpr int n_counts = takes_counts ? windows * n * n : 0;
  static constexpr int lasts = S::rows * S::within;  ///< transforms that differ in their twist
  static constexpr int twists =
      lasts * S::last / 2 + S::count * S::rows / 2 + 16 * S::across + (S::rows + 1) * S::within / 2;
  static constexpr int other_bytes =
      static_cast<int>(sizeof(float2)) * (warps * S::places + twists) +
      n_counts * static_cast<int>(sizeof(Count)) +
      shares * threads * static_cast<int>(sizeof(float4)) +
      (shifts ? windows * 4 * n * static_cast<int>(sizeof(float2)) : 0) + 1024;
  /// Of the 32 pixels of a thread, those whose sum for the probe stays here; the others go to
  /// memory with each window.
  static constexpr int left_bytes = shared_bytes - other_bytes;
  static constexpr int held =
      in_turn ? 0 : left_bytes / (threads * static_cast<int>(sizeof(float2)));
  /// Of the 16 pairs of pixels of a thread, those of the first mode that are put aside here; all
  /// others in memory.
  static constexpr int aside_here =
      in_turn ? left_bytes / (threads * static_cast<int>(sizeof(float4))) : 0;
  static_assert(held + aside_here >= 1 && held < 32 && aside_here < 16);
  static_assert(windows * S::here == warps);

  float2 slices[warps][S::places];
  float2 probe_sum[in_turn ? 1 : held][in_turn ? 1 : threads];
  float4 aside[in_turn ? aside_here : 1][in_turn ? threads : 1];
  float4 factors[shares > 0 ? shares : 1][shares > 0 ? threads : 1];
  Count counts[takes_counts ? windows : 1][takes_counts ? n * n : 8];
  float2 twist_over_slices[lasts][S::last / 2];             ///< of exp(-2 pi i (kb + rows k) / n)
  float2 twist_within[S::rows][(S::within + 1) / 2];        ///< of exp(-2 pi i blocks kb / n)
  float2 twist_of_block[(S::within + 1) / 2];               ///< of exp(-2 pi i block / count)
  float2 twist_of_slice[S::count][S::rows / 2];             ///< of exp(-2 pi i slice / n)
  float2 twist_of_lane[32][S::across / 2];                  ///< of exp(-2 pi i lane / n)
  float2 ramp[shifts ? windows : 1][2][2][shifts ? n : 1];  ///< [turn % 2][y, x][frequency]
  double sums[warps][n_compared];
  Arrival counts_arrived[windows];

  /// What is constant, and zeros. A warp sees its own slice at once, all of it the block later.
  __device__ void prepare(int thread) {
    constexpr int half = S::last / 2;
    constexpr int half_rows = S::rows / 2;
    constexpr int half_across = S::across / 2;
    for (int i = thread; i < lasts * half; i += threads)
      (&twist_over_slices[0][0])[i] = twist_of(S::last, static_cast<float>(i / half) / n, i % half);
    for (int i = thread; i < S::count * half_rows; i += threads)
      (&twist_of_slice[0][0])[i] =
          twist_of(S::rows, static_cast<float>(i / half_rows) / n, i % half_rows);
    if constexpr (S::blocks > 1) {
      constexpr int half_within = S::within / 2;
      if (thread < S::rows * half_within)
        (&twist_within[0][0])[thread] =
            twist_of(S::within, static_cast<float>(S::blocks * (thread / half_within)) / n,
                     thread % half_within);
      if (thread < half_within)
        twist_of_block[thread] =
            twist_of(S::within, static_cast<float>(rank_in_cluster()) / S::count, thread);
    }
    if (thread < 32 * half_across)
      (&twist_of_lane[0][0])[thread] =
          twist_of(S::across, static_cast<float>(thread / half_across) / n, thread % half_across);
    for (int i = 0; i < held; ++i) probe_sum[i][thread] = make_float2(0, 0);
    for (int i = thread % 32; i < S::places; i += 32) slices[thread / 32][i] = make_float2(0, 0);
    if constexpr (shifts)
      for (int i = thread; i < windows * 4 * n; i += threads)
        (&ramp[0][0][0][0])[i] = make_float2(0, 0);
  }
};

/// The places of a chunk, first ... last - 1, that a window of a block takes.
struct WindowRun {
  int workers;  ///< windows of all blocks
  int worker;   ///< number of the window among them; below count where it has places
  int first;
  int last;
  int most;  ///< places that any window takes
  /// @param cluster blocks that work on a window together
  /// @param windows at a time in a block
  __device__ WindowRun(int count, int cluster, int windows) {
    const int n_clusters = static_cast<int>(gridDim.x) / cluster;
    worker =
        warp_of_block() / (warps / windows) * n_clusters + static_cast<int>(blockIdx.x) / cluster;
    workers = n_clusters * windows;
    const int share = count / workers;
    const int rest = count % workers;
    first = worker * share + min(worker, rest);
    last = first + share + (worker < rest ? 1 : 0);
    most = share + (rest > 0 ? 1 : 0);
  }
};

/// Behind all places of a window. Where modes are blocks of a cluster, all windows in them wait for
/// each other twice a place (`compare_modes`): one with fewer places waits as often. Then once
/// more, as other blocks may still read what this one holds.
template <int shares>
__device__ __forceinline__ void leave_cluster(const WindowRun& run) {
  if constexpr (shares > 0) {
    for (int i = run.last - run.first; i < run.most; ++i) {
      wait_for_cluster();
      wait_for_cluster();
    }
    wait_for_cluster();
  }
}

/// Of a kernel whose blocks take windows, all but what comes before other kernels have ended.
template <int n, int shares, class Windows>
__device__ __forceinline__ void add_all(const ScanArrays& scan, const ChunkArrays& chunk,
                                        Windows& windows) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  follow_earlier_kernels();
  const WindowRun run(chunk.count, blocks_of_window<n, shares>(scan), windows_at_a_time(n));
  windows.add(run.first, run.last);
  leave_cluster<shares>(run);
#endif
}

template <int n, class Count, int shares>
struct WindowKind {};

/// f of the kind of windows that one block holds, of one mode, by the bytes of a count.
template <class F>
void with_counts(const ScanArrays& scan, const F& f) {
  const auto with = [&](auto count) {
    using Count = decltype(count);
    scan.n == 64 ? f(WindowKind<64, Count, 0>()) : f(WindowKind<128, Count, 0>());
  };
  switch (scan.counts) {
    case Counts::u8:
      return with(std::uint8_t{});
    case Counts::u16:
      return with(std::uint16_t{});
    default:  // told apart where they become numbers
      return with(std::uint32_t{});
  }
}

/// f(whether amplitudes without a background are all that is compared): two kernels for all.
template <class F>
void with_comparison(const ScanArrays& scan, const F& f) {
  if (scan.noise == Noise::amplitude && scan.background == nullptr)
    f(std::true_type());
  else
    f(std::false_type());
}

/// f(eighths of the pixels that each of so many blocks compares, at most 4).
template <class F>
void with_shares(int blocks, const F& f) {
  switch ((8 + blocks - 1) / blocks) {
    case 1:
      return f(std::integral_constant<int, 1>());
    case 2:
      return f(std::integral_constant<int, 2>());
    case 3:
      return f(std::integral_constant<int, 3>());
    default:
      return f(std::integral_constant<int, 4>());
  }
}

/// f of the kind of windows that `scan` has. Several blocks read counts as they lie in memory.
template <class F>
void with_window_kind(const ScanArrays& scan, const F& f) {
  if (scan.n == 256) return f(WindowKind<256, float, 0>());
  if (scan.n_modes == 1) return with_counts(scan, f);
  if (scan.n == 64) return f(WindowKind<64, float, 4>());
  with_shares(scan.n_modes, [&](auto shares) { f(WindowKind<128, float, shares>()); });
}

}  // namespace tessera::physics::hot_path
