#pragma once
/// The counts of a window on the chip: which pixels count, and how they come to the threads that
/// compare them.

#include "window_comparison_cuda.cuh"
#include "window_over_slices_cuda.cuh"

namespace tessera::physics::hot_path {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

template <int n, class Count, int shares, bool shifts, bool in_turn = false>
class WindowCounts : public OverSlices<n, OnChip<n, Count, shares, shifts, in_turn>> {
  using S = Slices<n>;
  using Chip = OnChip<n, Count, shares, shifts, in_turn>;
  using Over = OverSlices<n, Chip>;

 protected:
  using Over::chip_;
  using Over::thread_;
  using Over::window_;

 public:
  using Over::detector_pixel;
  using Over::leads_window;

  __device__ WindowCounts(const ScanArrays& scan, Chip& chip) : Over(chip), scan_(scan) {
    if (leads_window()) chip.counts_arrived[window_].make();
  }

  /// Which pixels count.
  __device__ __forceinline__ void find_trusted() { Over::find_trusted(scan_.valid, trusted_); }

  /// Where one mode in one block is all, counts come to the chip ahead; else to the cache.
  __device__ __forceinline__ void start_counts(const Place& place) {
    if constexpr (S::blocks > 1) {
      fetch_counts(place);
    } else if (leads_window()) {
      const std::int64_t first = static_cast<std::int64_t>(place.pattern) * (n * n);
      if constexpr (Chip::takes_counts)
        chip_.counts_arrived[window_].start_copy(chip_.counts[window_],
                                                 static_cast<const Count*>(scan_.patterns) + first,
                                                 n * n * static_cast<int>(sizeof(Count)));
      else if (rank_in_cluster() == 0)
        fetch_once(static_cast<const char*>(scan_.patterns) + first * bytes_of_count(scan_),
                   n * n * bytes_of_count(scan_));
    }
  }

 protected:
  const ScanArrays& scan_;
  unsigned trusted_ = 0;  ///< of the thread's pixels, a bit each

  __device__ __forceinline__ bool saturates() const {
    return scan_.saturation < __int_as_float(0x7F800000);
  }

  /// Neighbours on the detector are neighbours in q: of both halves, or of one.
  static constexpr bool pairs_halves = S::count == 16;

  /// Until `start_counts` has brought those of the window of this number.
  __device__ __forceinline__ void wait_for_counts(int number) const {
    if constexpr (Chip::takes_counts)
      chip_.counts_arrived[window_].wait(static_cast<unsigned>(number) & 1U);
  }

  /// count = those of the thread's pixels of a half, that have come.
  __device__ __forceinline__ void take_counts(const Place& place, int half,
                                              float (&count)[16]) const {
    if constexpr (Chip::takes_counts) {
      CountPair<Count> counts[16];
      load_pairs(counts, pairs_halves ? 0 : half);
      take_pairs(counts, half, count);
    } else {
      read_counts(place, half, count);
    }
  }

  __device__ __forceinline__ void load_pairs(CountPair<Count> (&counts)[16], int half) const {
#pragma unroll
    for (int i = 0; i < 16; ++i)
      if (pairs_halves || (i & S::count) == 0)
        counts[i] = *reinterpret_cast<const CountPair<Count>*>(chip_.counts[window_] +
                                                               detector_pixel(half, i));
  }

  __device__ __forceinline__ void take_pairs(const CountPair<Count> (&counts)[16], int half,
                                             float (&count)[16]) const {
#pragma unroll
    for (int i = 0; i < 16; ++i)
      count[i] = pairs_halves ? count_of(scan_, counts[i], half)
                              : count_of(scan_, counts[i & ~S::count], (i & S::count) / S::count);
  }

  /// From memory.
  __device__ __forceinline__ void read_counts(const Place& place, int half,
                                              float (&count)[16]) const {
    unsigned raw[4][4];  // [row][column]
    load_fours(scan_, static_cast<std::int64_t>(place.pattern) * (n * n) + detector_pixel(half, 0),
               S::rows * S::within * n, raw);
#pragma unroll
    for (int i = 0; i < 16; ++i) count[i] = count_of(scan_, raw[i % 4][i / 4]);
  }

 private:
  /// Brings the counts of the block's pixels near: a line of 128 bytes a thread.
  __device__ __forceinline__ void fetch_counts(const Place& place) const {
    const int bytes = bytes_of_count(scan_);
    const int lines_of_row = n * bytes / 128;
    for (int i = thread_; i < n / S::blocks * lines_of_row; i += threads) {
      const int r = i / lines_of_row;
      constexpr int rows_together = S::rows * S::same_q;
      const int y = static_cast<int>(rank_in_cluster()) * rows_together + r % rows_together +
                    r / rows_together * S::rows * S::within;
      const std::int64_t at = static_cast<std::int64_t>(place.pattern) * (n * n) + y * n;
      asm volatile("prefetch.global.L2 [%0];" ::"l"(static_cast<const char*>(scan_.patterns) +
                                                    at * bytes + i % lines_of_row * 128));
    }
  }
};

#endif

}  // namespace tessera::physics::hot_path
