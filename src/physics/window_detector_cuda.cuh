#pragma once
/// What the detector does to a window on the chip: the last of its transforms, the comparison with
/// the counts, and the first of the transforms back.

#include "hot_path_detector.cuh"
#include "window_over_slices_cuda.cuh"

namespace tessera::physics::hot_path {

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

/// @tparam background besides the waves. Known when it is compiled: a branch costs the loops around
/// it their registers.
template <int n, class Count, int shares, bool shifts, bool background>
class WindowDetector : public OverSlices<n, OnChip<n, Count, shares, shifts>> {
  using S = Slices<n>;
  using Chip = OnChip<n, Count, shares, shifts>;
  using Over = OverSlices<n, Chip>;
  using Over::chip_;
  using Over::lane_;
  using Over::thread_;
  using Over::warp_;
  using Over::window_;

 public:
  using Over::column;
  using Over::finish_over_slices;
  using Over::last_twist;
  using Over::place_q;
  using Over::read_slices;
  using Over::row;
  using Over::start_over_slices;
  using Over::wait_for_window;
  using Over::write_slices;

  __device__ WindowDetector(const ScanArrays& scan, const ChunkArrays& chunk, Chip& chip)
      : Over(chip), scan_(scan), chunk_(chunk) {
    if (lane_ < 4) chip.sums[warp_][lane_] = 0;
    if (warp_ % S::here == 0 && lane_ == 0) chip.counts_arrived[window_].make();
  }

  /// Which pixels count.
  __device__ __forceinline__ void find_trusted() {
    for (int i = 0; i < 32; ++i)
      if (scan_.valid[detector_pixel(i / 16, i % 16)] != 0) trusted_ |= 1U << i;
  }

  /// Where one mode in one block is all, counts come to the chip ahead.
  __device__ __forceinline__ void start_counts(const Place& place) {
    if constexpr (!Chip::takes_counts)
      fetch_counts(place);
    else if (warp_ % S::here == 0 && lane_ == 0)
      chip_.counts_arrived[window_].start_copy(
          chip_.counts[window_],
          static_cast<const Count*>(scan_.patterns) +
              static_cast<std::int64_t>(place.pattern) * (n * n),
          n * n * static_cast<int>(sizeof(Count)));
  }

  /// Over the slices, the comparison, and back.
  /// @param number of the window, which counts from 0
  __device__ __forceinline__ void compare(const Place& place, int number) {
    start_over_slices();
    if constexpr (Chip::takes_counts)
      chip_.counts_arrived[window_].wait(static_cast<unsigned>(number) & 1U);
    CountPair<Count> counts[16];
    if constexpr (pairs_halves) load_pairs(counts, 0);
    float sum[4] = {};
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
      float2 x[16 / S::last][S::last];
      float count[16];
      read_slices(half, x);
      if constexpr (Chip::takes_counts) {
        if constexpr (!pairs_halves) load_pairs(counts, half);
#pragma unroll
        for (int i = 0; i < 16; ++i)
          count[i] = pairs_halves ? count_of(counts[i], half)
                                  : count_of(counts[i & ~S::count], (i & S::count) / S::count);
      }
#pragma unroll
      for (int i = 0; i < 16 / S::last; ++i)
        twisted_fft<S::last, -1>(x[i], last_twist(half, i * S::last));
      if constexpr (!Chip::takes_counts) {
        unsigned raw[4][4];  // [row][column]; no earlier: registers are few
        load_fours(scan_,
                   static_cast<std::int64_t>(place.pattern) * (n * n) + detector_pixel(half, 0),
                   S::rows * S::within * n, raw);
#pragma unroll
        for (int i = 0; i < 16; ++i) count[i] = count_of(scan_, raw[i % 4][i / 4]);
      }
      const unsigned trusted = trusted_ >> (16 * half);
      if constexpr (background) {
        const Background over(scan_, chunk_, detector_pixel(half, 0));
#pragma unroll
        for (int i = 0; i < 16; ++i) {
          float2& wave = x[i / S::last][i % S::last];
          wave = wave * compare_over(over, i, trusted >> i & 1U, count[i], power(wave), sum);
        }
      } else {
        if ((trusted & 0xFFFFU) != 0xFFFFU || saturates()) {
#pragma unroll
          for (int i = 0; i < 16; ++i) {
            const unsigned keep = count[i] < scan_.saturation ? 0U - (trusted >> i & 1U) : 0U;
            float2& wave = x[i / S::last][i % S::last];
            wave = make_float2(masked(wave.x, keep), masked(wave.y, keep));
            count[i] = masked(count[i], keep);
          }
        }
#pragma unroll
        for (int i = 0; i < 16; ++i) {
          float2& wave = x[i / S::last][i % S::last];
          wave = wave * Comparison(count[i], power(wave), sum).factor();
        }
      }
#pragma unroll
      for (int i = 0; i < 16 / S::last; ++i) short_fft<S::last, 1>(x[i]);
      write_slices(half, x);
    }
    const float total = sums_over_warp(sum);
    if (lane_ < 4) chip_.sums[warp_][lane_] += total;
    finish_over_slices();
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

  __device__ __forceinline__ void finish_sums(double* sums) const {
    __syncwarp();
    if (lane_ >= 4) return;
    atomicAdd(sums + lane_, chip_.sums[warp_][lane_]);
    if (lane_ == 0) atomicAdd(sums + 4, chip_.sums[warp_][0]);
  }

 private:
  const ScanArrays& scan_;
  const ChunkArrays& chunk_;
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
    const unsigned trusted = trusted_ >> (4 * g);
    if constexpr (background) {
      const Background over(scan_, chunk_, detector_pixel(g / 4, g % 4 * 4));
#pragma unroll
      for (int e = 0; e < 4; ++e)
        factor[e] =
            compare_over(over, e, trusted >> e & 1U, count_of(scan_, raw[e]), intensity[e], sum);
    } else {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float count = count_of(scan_, raw[e]);
        const unsigned keep = count < scan_.saturation ? 0U - (trusted >> e & 1U) : 0U;
        const Comparison compared(masked(count, keep), masked(intensity[e], keep), sum);
        factor[e] = masked(compared.factor(), keep);
      }
    }
    return make_float4(factor[0], factor[1], factor[2], factor[3]);
  }

  /// What `count` and an intensity of unnormalised waves, n^2 times what it is, make of each other.
  struct Comparison {
    float measured_amplitude;
    float inverse;  ///< 1 / (n^2 model amplitude)
    float difference;

    __device__ __forceinline__ Comparison(float measured, float intensity, float (&sum)[4])
        : measured_amplitude(fast_sqrt(measured)),
          inverse(fast_rsqrt(fmaf(intensity, n * n, 1e-30F))),
          difference(fmaf(intensity, inverse, -measured_amplitude)) {
      sum[0] = fmaf(difference, difference, sum[0]);
      sum[1] += fabsf(difference);
      sum[2] += measured;
      sum[3] += measured_amplitude;
    }
    /// (sqrt(measured) / sqrt(model) - 1) / n^2, so that waves come back as they are.
    __device__ __forceinline__ float factor() const {
      return fmaf(measured_amplitude, inverse, -1.F / (n * n));
    }
    /// As `Compare` has it of amplitudes.
    __device__ __forceinline__ float curvature() const {
      return __fdividef(n * n * inverse, fmaf(2.F, measured_amplitude, difference) + 1e-10F);
    }
  };

  /// What the thread's pixels of a half count besides waves, and what they say of it.
  struct Background {
    const float* counts;
    float2* slopes;  ///< null: not wanted

    __device__ __forceinline__ Background(const ScanArrays& scan, const ChunkArrays& chunk,
                                          int first_pixel) {
      // Known here and nowhere else: registers are few in the loop around.
      asm volatile("" : "+r"(first_pixel));
      counts = scan.background + first_pixel;
      slopes = chunk.background_slopes
                   ? reinterpret_cast<float2*>(chunk.background_slopes) + first_pixel
                   : nullptr;
    }
  };
  /// From a thread's first pixel of a half to its i-th.
  __device__ static constexpr int pixel_offset(int i) {
    const int q = i / S::last;
    return (q / S::across + S::rows * S::within * (i % S::last)) * n + q % S::across;
  }

  /// Where waves and a background are counted together.
  /// @param trusted by the mask, 1 or 0
  /// @return the factor, 0 of a pixel that is not trusted
  __device__ __forceinline__ float compare_over(const Background& over, int i, unsigned trusted,
                                                float count, float intensity,
                                                float (&sum)[4]) const {
    const unsigned keep = count < scan_.saturation ? 0U - trusted : 0U;
    const float model = fmaf(__ldg(over.counts + pixel_offset(i)), n * n, intensity);
    const Comparison compared(masked(count, keep), masked(model, keep), sum);
    const float factor = masked(compared.factor(), keep);
    if (over.slopes)
      add_float2(over.slopes + pixel_offset(i),
                 make_float2(factor * (n * n), masked(compared.curvature(), keep)));
    return factor;
  }
};

#endif

}  // namespace tessera::physics::hot_path
