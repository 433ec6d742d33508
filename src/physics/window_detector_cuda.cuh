#pragma once
/// What the detector does to a window on the chip: the last of its transforms, the comparison with
/// the counts, and the first of the transforms back.

#include "bulk_copy_cuda.cuh"
#include "hot_path_detector.cuh"
#include "hot_path_window.cuh"
#include "window_fft_cuda.cuh"

namespace tessera::physics::hot_path {

constexpr int warps = 16;
constexpr int threads = 32 * warps;
constexpr int shared_bytes = 227 << 10;

/// What the shared memory of a block holds.
/// @tparam shares 0: one mode. Else a cluster of blocks works on a window, each on one mode, and
/// each compares up to `shares` eighths of the pixels with the counts.
/// @tparam shifts the probe for every place
template <int n, class Count, int shares, bool shifts = false>
struct OnChip {
  using S = Slices<n>;
  static constexpr int windows = windows_at_a_time(n);
  static constexpr int n_counts = shares == 0 ? windows * n * n : 0;
  static constexpr int twists = S::rows * S::count / 2;
  static constexpr int other_bytes =
      static_cast<int>(sizeof(float2)) * (warps * S::places + 2 * twists + 16 * S::across) +
      n_counts * static_cast<int>(sizeof(Count)) +
      shares * threads * static_cast<int>(sizeof(float4)) +
      (shifts ? windows * 4 * n * static_cast<int>(sizeof(float2)) : 0) + 1024;
  /// Of the 32 pixels of a thread, those whose sum for the probe stays here; the others go to
  /// memory with each window.
  static constexpr int held =
      (shared_bytes - other_bytes) / (threads * static_cast<int>(sizeof(float2)));
  static_assert(held >= 1 && held < 32 && windows * S::count == warps);

  float2 slices[warps][S::places];
  float2 probe_sum[held][threads];
  float4 factors[shares > 0 ? shares : 1][shares > 0 ? threads : 1];
  Count counts[shares > 0 ? 1 : windows][shares > 0 ? 8 : n* n];
  float2 twist_over_slices[S::rows][S::count / 2];          ///< of exp(-2 pi i kb / n)
  float2 twist_of_slice[S::count][S::rows / 2];             ///< of exp(-2 pi i slice / n)
  float2 twist_of_lane[32][S::across / 2];                  ///< of exp(-2 pi i lane / n)
  float2 ramp[shifts ? windows : 1][2][2][shifts ? n : 1];  ///< [turn % 2][y, x][frequency]
  double sums[warps][4];
  Arrival counts_arrived[windows];

  /// What is constant, and zeros. A warp sees its own slice at once, all of it the block later.
  __device__ void prepare(int thread) {
    constexpr int half = S::count / 2;
    constexpr int half_rows = S::rows / 2;
    constexpr int half_across = S::across / 2;
    for (int i = thread; i < twists; i += threads) {
      (&twist_over_slices[0][0])[i] =
          twist_of(S::count, static_cast<float>(i / half) / n, i % half);
      (&twist_of_slice[0][0])[i] =
          twist_of(S::rows, static_cast<float>(i / half_rows) / n, i % half_rows);
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
  int first;
  int last;
  /// @param cluster blocks that work on a window together
  /// @param windows at a time in a block
  __device__ WindowRun(int count, int cluster, int windows) {
    const int n_clusters = static_cast<int>(gridDim.x) / cluster;
    const int worker = static_cast<int>(threadIdx.x) / (threads / windows) * n_clusters +
                       static_cast<int>(blockIdx.x) / cluster;
    const int workers = n_clusters * windows;
    const int share = count / workers;
    const int rest = count % workers;
    first = worker * share + min(worker, rest);
    last = first + share + (worker < rest ? 1 : 0);
  }
};

template <int n, class Count, int shares>
struct WindowKind {};

/// f of the kind of windows that `scan` has. Modes read their counts as they lie in memory.
template <class F>
void with_window_kind(const ScanArrays& scan, const F& f) {
  if (scan.n_modes > 1) {
    switch ((8 + scan.n_modes - 1) / scan.n_modes) {
      case 1:
        return f(WindowKind<128, float, 1>());
      case 2:
        return f(WindowKind<128, float, 2>());
      case 3:
        return f(WindowKind<128, float, 3>());
      default:
        return f(WindowKind<128, float, 4>());
    }
  }
  const auto with_counts = [&](auto count) {
    using Count = decltype(count);
    scan.n == 64 ? f(WindowKind<64, Count, 0>()) : f(WindowKind<128, Count, 0>());
  };
  switch (scan.counts) {
    case Counts::u8:
      return with_counts(std::uint8_t{});
    case Counts::u16:
      return with_counts(std::uint16_t{});
    case Counts::u32:
      return with_counts(std::uint32_t{});
    case Counts::f32:
      return with_counts(float{});
  }
}

/// Counts of two neighbouring pixels, as they lie in memory.
template <class Count>
struct alignas(2 * sizeof(Count)) CountPair {
  Count first;
  Count second;
};

/// Small whole numbers become floats without a conversion, as 2^23 + count.
__device__ __forceinline__ float count_of(CountPair<std::uint8_t> pair, int which) {
  const unsigned both = pair.first | static_cast<unsigned>(pair.second) << 8;
  return __uint_as_float(__byte_perm(both, 0x4B000000U, which == 0 ? 0x7640 : 0x7641)) - 8388608.F;
}
__device__ __forceinline__ float count_of(CountPair<std::uint16_t> pair, int which) {
  const unsigned both = pair.first | static_cast<unsigned>(pair.second) << 16;
  return __uint_as_float(__byte_perm(both, 0x4B000000U, which == 0 ? 0x7610 : 0x7632)) - 8388608.F;
}
template <class Count>
__device__ __forceinline__ float count_of(CountPair<Count> pair, int which) {
  return static_cast<float>(which == 0 ? pair.first : pair.second);
}

/// 1 / sqrt(x), relative error below 2^-22.
__device__ __forceinline__ float fast_rsqrt(float x) {
  float root;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}

/// x or 0. @param keep all bits or none
__device__ __forceinline__ float masked(float x, unsigned keep) {
  return __uint_as_float(__float_as_uint(x) & keep);
}

/// @return in lane i and those i + 4, i + 8 ... the sum of v[i] over the warp
__device__ __forceinline__ float sums_over_warp(const float (&v)[4]) {
  const auto lane = threadIdx.x;
  const bool odd = lane & 1U;
  const float first = (odd ? v[1] : v[0]) + __shfl_xor_sync(~0U, odd ? v[0] : v[1], 1);
  const float second = (odd ? v[3] : v[2]) + __shfl_xor_sync(~0U, odd ? v[2] : v[3], 1);
  const bool upper = lane & 2U;
  float total = (upper ? second : first) + __shfl_xor_sync(~0U, upper ? first : second, 2);
  for (int step = 4; step < 32; step *= 2) total += __shfl_xor_sync(~0U, total, step);
  return total;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

template <int n, class Count, int shares, bool shifts = false>
class WindowDetector {
  using S = Slices<n>;
  using Chip = OnChip<n, Count, shares, shifts>;

 public:
  __device__ WindowDetector(const ScanArrays& scan, Chip& chip) : scan_(scan), chip_(chip) {
    if (lane_ < 4) chip.sums[warp_][lane_] = 0;
    if (slice_ == 0 && lane_ == 0) chip.counts_arrived[window_].make();
  }

  /// Which pixels count.
  __device__ __forceinline__ void find_trusted() {
    for (int i = 0; i < 32; ++i)
      if (scan_.valid[detector_pixel(i / 16, i % 16)] != 0) trusted_ |= 1U << i;
  }

  /// Where one mode is all, counts come to the chip ahead.
  __device__ __forceinline__ void start_counts(const Place& place) {
    if (slice_ == 0 && lane_ == 0)
      chip_.counts_arrived[window_].start_copy(
          chip_.counts[window_],
          static_cast<const Count*>(scan_.patterns) +
              static_cast<std::int64_t>(place.pattern) * (n * n),
          n * n * static_cast<int>(sizeof(Count)));
  }

  /// Over the slices, the comparison, and back.
  __device__ __forceinline__ void compare(int number) {
    wait_for_window();
    chip_.counts_arrived[window_].wait(static_cast<unsigned>(number) & 1U);
    float2* const slices = chip_.slices[window_ * S::count] + lane_;
    CountPair<Count> counts[16];
    if constexpr (pairs_halves) load_pairs(counts, 0);
    float sum[4] = {};
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
      float2 x[16 / S::count][S::count];
      float count[16];
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        x[i / S::count][i % S::count] =
            slices[i % S::count * S::places + S::pitch * place_q(half, i)];
      }
      if constexpr (!pairs_halves) load_pairs(counts, half);
#pragma unroll
      for (int i = 0; i < 16; ++i)
        count[i] = pairs_halves ? count_of(counts[i], half)
                                : count_of(counts[i & ~S::count], (i & S::count) / S::count);
#pragma unroll
      for (int i = 0; i < 16 / S::count; ++i)
        twisted_fft<S::count, -1>(x[i],
                                  chip_.twist_over_slices[place_q(half, i * S::count) / S::across]);
      const unsigned trusted = trusted_ >> (16 * half);
      if ((trusted & 0xFFFFU) != 0xFFFFU || saturates()) {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
          const unsigned keep = count[i] < scan_.saturation ? 0U - (trusted >> i & 1U) : 0U;
          float2& wave = x[i / S::count][i % S::count];
          wave = make_float2(masked(wave.x, keep), masked(wave.y, keep));
          count[i] = masked(count[i], keep);
        }
      }
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        float2& wave = x[i / S::count][i % S::count];
        wave = wave * factor_of(count[i], power(wave), sum);
      }
#pragma unroll
      for (int i = 0; i < 16 / S::count; ++i) short_fft<S::count, 1>(x[i]);
#pragma unroll
      for (int i = 0; i < 16; ++i)
        slices[i % S::count * S::places + S::pitch * place_q(half, i)] =
            x[i / S::count][i % S::count];
    }
    const float total = sums_over_warp(sum);
    if (lane_ < 4) chip_.sums[warp_][lane_] += total;
    wait_for_window();
  }

  /// The same of modes in the blocks of a cluster. Eighth g of the pixels, 4 of each thread, is
  /// compared by block g % n_modes, which adds up the intensities there and hands the factors out.
  __device__ __forceinline__ void compare_modes(const Place& place) {
    static_assert(S::count == 16);
    const int mode = static_cast<int>(rank_in_cluster());
    wait_for_window();
    float2* const slices = chip_.slices[0] + lane_;
    float2 x[2][16];
#pragma unroll
    for (int i = 0; i < 32; ++i)
      x[i / 16][i % 16] = slices[i % 16 * S::places + S::pitch * place_q(i / 16, i % 16)];
    float2 twist[S::count / 2];
#pragma unroll
    for (int i = 0; i < S::count / 2; ++i)
      twist[i] = chip_.twist_over_slices[place_q(0, 0) / S::across][i];
#pragma unroll
    for (int half = 0; half < 2; ++half) twisted_fft<S::count, -1>(x[half], twist);
    wait_for_window();  // the slices hold nothing now
    auto* const powers = reinterpret_cast<float4*>(chip_.slices) + thread_;
#pragma unroll
    for (int g = 0; g < 8; ++g) {
      const float2* const v = x[g / 4] + g % 4 * 4;
      powers[g * threads] = make_float4(power(v[0]), power(v[1]), power(v[2]), power(v[3]));
    }
    wait_for_cluster();
    float sum[4] = {};
#pragma unroll
    for (int share = 0; share < shares; ++share) {
      const int g = share * scan_.n_modes + mode;
      if (g < 8) chip_.factors[share][thread_] = compare_eighth(place, mode, g, powers, sum);
    }
    const float total = sums_over_warp(sum);
    if (lane_ < 4) chip_.sums[warp_][lane_] += total;
    wait_for_cluster();
#pragma unroll
    for (int g = 0; g < 8; ++g) {
      const float4 factor = read_of_block(&chip_.factors[g / scan_.n_modes][thread_],
                                          static_cast<unsigned>(g % scan_.n_modes));
      float2* const v = x[g / 4] + g % 4 * 4;
      v[0] = v[0] * factor.x;
      v[1] = v[1] * factor.y;
      v[2] = v[2] * factor.z;
      v[3] = v[3] * factor.w;
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) short_fft<S::count, 1>(x[half]);
#pragma unroll
    for (int i = 0; i < 32; ++i)
      slices[i % 16 * S::places + S::pitch * place_q(i / 16, i % 16)] = x[i / 16][i % 16];
    wait_for_window();
  }

  /// Every warp of a window has come here.
  __device__ __forceinline__ void wait_for_window() const {
    wait_for_threads(1 + window_, 32 * S::count);
  }

  /// Pixels of the detector that a thread compares: i of half h is place (q, lane) of slice i %
  /// count.
  __device__ __forceinline__ int place_q(int half, int i) const {
    return slice_ * (32 / S::count) + half * (16 / S::count) + i / S::count;
  }
  __device__ __forceinline__ int row(int half, int i) const {
    return place_q(half, i) / S::across + S::rows * (i % S::count);
  }
  __device__ __forceinline__ int column(int half, int i) const {
    return place_q(half, i) % S::across + S::across * lane_;
  }

  __device__ __forceinline__ void finish_sums(double* sums) const {
    __syncwarp();
    if (lane_ >= 4) return;
    atomicAdd(sums + lane_, chip_.sums[warp_][lane_]);
    if (lane_ == 0) atomicAdd(sums + 4, chip_.sums[warp_][0]);
  }

 private:
  const ScanArrays& scan_;
  Chip& chip_;
  const int thread_ = static_cast<int>(threadIdx.x);
  const int warp_ = __shfl_sync(~0U, thread_ / 32, 0);
  const int lane_ = thread_ % 32;
  const int slice_ = warp_ % S::count;
  const int window_ = warp_ / S::count;
  unsigned trusted_ = 0;  ///< of the thread's pixels, a bit each

  __device__ __forceinline__ bool saturates() const {
    return scan_.saturation < __int_as_float(0x7F800000);
  }

  __device__ __forceinline__ int detector_pixel(int half, int i) const {
    return row(half, i) * n + column(half, i);
  }

  /// Neighbours on the detector are neighbours in q: of both halves, or of one.
  static constexpr bool pairs_halves = S::count == 16;

  __device__ __forceinline__ void load_pairs(CountPair<Count> (&counts)[16], int half) const {
#pragma unroll
    for (int i = 0; i < 16; ++i)
      if (pairs_halves || (i & S::count) == 0)
        counts[i] = *reinterpret_cast<const CountPair<Count>*>(chip_.counts[window_] +
                                                               detector_pixel(half, i));
  }

  /// @return the factors of four pixels
  __device__ __forceinline__ float4 compare_eighth(const Place& place, int mode, int g,
                                                   const float4* powers, float (&sum)[4]) {
    unsigned raw[4];
    load_counts(
        scan_,
        static_cast<std::int64_t>(place.pattern) * (n * n) + detector_pixel(g / 4, g % 4 * 4),
        S::rows * n, 4, raw);
    float intensity[4] = {};
    for (int r = 0; r < scan_.n_modes; ++r) {
      const int block = mode + r < scan_.n_modes ? mode + r : mode + r - scan_.n_modes;
      const float4 p = read_of_block(powers + g * threads, static_cast<unsigned>(block));
      intensity[0] += p.x;
      intensity[1] += p.y;
      intensity[2] += p.z;
      intensity[3] += p.w;
    }
    float factor[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float count = count_of(scan_, raw[e]);
      const unsigned keep = count < scan_.saturation ? 0U - (trusted_ >> (4 * g + e) & 1U) : 0U;
      factor[e] = masked(factor_of(masked(count, keep), masked(intensity[e], keep), sum), keep);
    }
    return make_float4(factor[0], factor[1], factor[2], factor[3]);
  }

  /// @param intensity of unnormalised waves, n^2 times what it is
  /// @return (sqrt(measured) / sqrt(model) - 1) / n^2, so that waves come back as they are
  __device__ __forceinline__ static float factor_of(float measured, float intensity,
                                                    float (&sum)[4]) {
    const float measured_amplitude = fast_sqrt(measured);
    const float inverse = fast_rsqrt(fmaf(intensity, n * n, 1e-30F));
    const float difference = fmaf(intensity, inverse, -measured_amplitude);
    sum[0] = fmaf(difference, difference, sum[0]);
    sum[1] += fabsf(difference);
    sum[2] += measured;
    sum[3] += measured_amplitude;
    return fmaf(measured_amplitude, inverse, -1.F / (n * n));
  }
};

#endif

}  // namespace tessera::physics::hot_path
