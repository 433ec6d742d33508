#pragma once
/// What the detector does to a window on the chip: the last of its transforms, the comparison with
/// the counts, and the first of the transforms back.

#include "window_counts_cuda.cuh"

namespace tessera::physics::hot_path {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// @tparam plain amplitudes without a background are all that is compared, else it is as the scan
/// says: known when it is compiled, for a branch costs the loops around it their registers
template <int n, class Count, int shares, bool shifts, bool plain, bool in_turn = false>
class WindowDetector : public WindowCounts<n, Count, shares, shifts, in_turn> {
  using S = Slices<n>;
  using Chip = OnChip<n, Count, shares, shifts, in_turn>;
  using Counts = WindowCounts<n, Count, shares, shifts, in_turn>;

 protected:
  /// What pixels sum up: squared differences of amplitudes are the cost, unless it is a likelihood.
  using Sums = float[plain ? n_compared - 1 : n_compared];
  using Counts::chip_;
  using Counts::lane_;
  using Counts::load_pairs;
  using Counts::pairs_halves;
  using Counts::read_counts;
  using Counts::saturates;
  using Counts::scan_;
  using Counts::take_pairs;
  using Counts::thread_;
  using Counts::trusted_;
  using Counts::wait_for_counts;
  using Counts::warp_;
  using Counts::window_;

 public:
  using Counts::detector_pixel;
  using Counts::finish_over_slices;
  using Counts::last_twist;
  using Counts::pixel_offset;
  using Counts::read_slices;
  using Counts::read_spectrum;
  using Counts::start_over_slices;
  using Counts::wait_for_window;
  using Counts::write_slices;

  __device__ WindowDetector(const ScanArrays& scan, const ChunkArrays& chunk, const Projection&,
                            Chip& chip)
      : WindowDetector(scan, chunk, chip) {}
  __device__ WindowDetector(const ScanArrays& scan, const ChunkArrays& chunk, Chip& chip)
      : Counts(scan, chip), chunk_(chunk) {
    if (lane_ < n_compared) chip.sums[warp_][lane_] = 0;
  }

  /// Over the slices, the comparison, and back.
  /// @param number of the window, which counts from 0
  __device__ __forceinline__ void compare(const Place& place, int number) {
    if constexpr (shares > 0)
      compare_modes(place, [](int, float4&) {});
    else
      compare_mode(place, number);
  }

  __device__ __forceinline__ void finish_sums(double* sums) const {
    __syncwarp();
    const bool cost_is_known = plain || scan_.noise == Noise::amplitude;
    if (lane_ < n_compared)
      atomicAdd(sums + lane_, chip_.sums[warp_][cost_is_known && lane_ == 4 ? 0 : lane_]);
  }

 private:
  __device__ __forceinline__ void compare_mode(const Place& place, int number) {
    start_over_slices();
    wait_for_counts(number);
    CountPair<Count> counts[16];
    if constexpr (pairs_halves) load_pairs(counts, 0);
    Sums sum = {};
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
      float2 x[16 / S::last][S::last];
      float count[16];
      read_slices(half, x);
      if constexpr (Chip::takes_counts) {
        if constexpr (!pairs_halves) load_pairs(counts, half);
        take_pairs(counts, half, count);
      }
#pragma unroll
      for (int i = 0; i < 16 / S::last; ++i)
        twisted_fft<S::last, -1>(x[i], last_twist(half, i * S::last));
      // No earlier: registers are few.
      if constexpr (!Chip::takes_counts) read_counts(place, half, count);
      const unsigned trusted = trusted_ >> (16 * half);
      if constexpr (!plain) {
        const BackgroundOfPixels over = background_of(half, 0);
        with_noise_kind([&](auto likelihood) {
#pragma unroll
          for (int i = 0; i < 16; ++i) {
            float2& wave = x[i / S::last][i % S::last];
            wave = wave *
                   compare_over<likelihood>(over, i, trusted >> i & 1U, count[i], power(wave), sum);
          }
        });
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
          wave = wave * Comparison<n>(count[i], power(wave), sum).factor();
        }
      }
#pragma unroll
      for (int i = 0; i < 16 / S::last; ++i) short_fft<S::last, 1>(x[i]);
      write_slices(half, x);
    }
    add_to_sums(sum);
    finish_over_slices();
  }

 protected:
  const ChunkArrays& chunk_;

  /// The same of modes in the blocks of a cluster. Eighth g of the pixels, 4 of each thread, is
  /// compared by block g % n_blocks, which adds up the intensities there and hands the factors out.
  /// @param add_others (g, powers) += those of the block's modes besides the one in the slices
  template <class AddOthers>
  __device__ __forceinline__ void compare_modes(const Place& place, const AddOthers& add_others) {
    static_assert(S::blocks == 1);
    const int block = static_cast<int>(rank_in_cluster());
    wait_for_window();
    float2 x[2][16 / S::last][S::last];
#pragma unroll
    for (int half = 0; half < 2; ++half) read_spectrum(half, x[half]);
    wait_for_window();  // its slices hold nothing now
    const auto four = [&](int g, int e) -> float2& { return four_of(x, g, e); };
    constexpr int window_threads = 32 * S::here;
    auto* const powers =
        reinterpret_cast<float4*>(chip_.slices[window_ * S::here]) + thread_ % window_threads;
#pragma unroll
    for (int g = 0; g < 8; ++g) {
      float4 p =
          make_float4(power(four(g, 0)), power(four(g, 1)), power(four(g, 2)), power(four(g, 3)));
      add_others(g, p);
      powers[g * window_threads] = p;
    }
    wait_for_cluster();
    Sums sum = {};
#pragma unroll
    for (int share = 0; share < shares; ++share) {
      const int g = share * n_blocks() + block;
      if (g < 8)
        chip_.factors[share][thread_] =
            compare_eighth(place, block, g, powers + g * window_threads, sum);
    }
    add_to_sums(sum);
    wait_for_cluster();
#pragma unroll
    for (int g = 0; g < 8; ++g) {
      const float4 factor = factor_of(g);
      four(g, 0) = four(g, 0) * factor.x;
      four(g, 1) = four(g, 1) * factor.y;
      four(g, 2) = four(g, 2) * factor.z;
      four(g, 3) = four(g, 3) * factor.w;
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int i = 0; i < 16 / S::last; ++i) short_fft<S::last, 1>(x[half][i]);
      write_slices(half, x[half]);
    }
    wait_for_window();
  }

  __device__ __forceinline__ int n_blocks() const {
    return in_turn ? blocks_of_cluster() : scan_.n_modes;
  }
  /// Of the thread's pixels of eighth g.
  __device__ __forceinline__ float4 factor_of(int g) const {
    return read_of_block(&chip_.factors[g / n_blocks()][thread_],
                         static_cast<unsigned>(g % n_blocks()));
  }
  /// Pixel e of the four of eighth g.
  __device__ static __forceinline__ float2& four_of(float2 (&x)[2][16 / S::last][S::last], int g,
                                                    int e) {
    const int i = g % 4 * 4 + e;
    return x[g / 4][i / S::last][i % S::last];
  }

  __device__ __forceinline__ void add_to_sums(const Sums& sum) const {
    float total = sums_over_warp(sum);
    if (lane_ < 4) chip_.sums[warp_][lane_] += total;
    if constexpr (!plain) {
      total = sum_over_warp(sum[4]);
      if (lane_ == 4) chip_.sums[warp_][4] += total;
    }
  }

 private:
  /// @param powers of the four pixels, at the same place in every block
  /// @return their factors
  __device__ __forceinline__ float4 compare_eighth(const Place& place, int this_block, int g,
                                                   const float4* powers, Sums& sum) {
    unsigned raw[4];
    load_counts(
        scan_,
        static_cast<std::int64_t>(place.pattern) * (n * n) + detector_pixel(g / 4, g % 4 * 4),
        S::rows * n, 4, raw);
    float intensity[4] = {};
    for (int r = 0; r < n_blocks(); ++r) {
      const int block = this_block + r < n_blocks() ? this_block + r : this_block + r - n_blocks();
      const float4 p = read_of_block(powers, static_cast<unsigned>(block));
      intensity[0] += p.x;
      intensity[1] += p.y;
      intensity[2] += p.z;
      intensity[3] += p.w;
    }
    float factor[4];
    const unsigned trusted = trusted_ >> (4 * g);
    if constexpr (!plain) {
      const BackgroundOfPixels over = background_of(g / 4, g % 4 * 4);
      with_noise_kind([&](auto likelihood) {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          factor[e] = compare_over<likelihood>(over, e, trusted >> e & 1U, count_of(scan_, raw[e]),
                                               intensity[e], sum);
      });
    } else {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float count = count_of(scan_, raw[e]);
        const unsigned keep = count < scan_.saturation ? 0U - (trusted >> e & 1U) : 0U;
        const Comparison<n> compared(masked(count, keep), masked(intensity[e], keep), sum);
        factor[e] = masked(compared.factor(), keep);
      }
    }
    return make_float4(factor[0], factor[1], factor[2], factor[3]);
  }

 protected:
  /// From pixel i of a half on.
  __device__ __forceinline__ BackgroundOfPixels background_of(int half, int i) const {
    const int number = (16 * half + i) * Counts::from_number_to_number;
    return {scan_, chunk_, detector_pixel(half, i),
            static_cast<int>(Counts::first_number(0)) + number};
  }

  /// f(whether by a likelihood), once for all pixels of a thread.
  template <class F>
  __device__ __forceinline__ void with_noise_kind(const F& f) const {
    if (scan_.noise == Noise::amplitude)
      f(std::false_type());
    else
      f(std::true_type());
  }

  /// Where waves and a background are counted together, or compared by likelihoods.
  /// @param trusted by the mask, 1 or 0
  /// @tparam spares_dark pixels: the factor divides by dark_amplitude or more
  /// @return the factor, 0 of a pixel that is not trusted
  template <bool by_likelihood, bool spares_dark = false>
  __device__ __forceinline__ float compare_over(const BackgroundOfPixels& over, int i,
                                                unsigned trusted, float count, float intensity,
                                                Sums& sum) const {
    const unsigned keep = count < scan_.saturation ? 0U - trusted : 0U;
    float model = intensity;
    if (!by_likelihood || scan_.background)
      model = fmaf(__ldg(over.counts + pixel_offset(i)), n * n, intensity);
    auto compared = compared_with<by_likelihood>(masked(count, keep), masked(model, keep), sum);
    if constexpr (spares_dark) compared.divide_by_no_less(scan_.dark_amplitude);
    const float factor = masked(compared.factor(), keep);
    if (over.slopes)
      add_float2(over.slopes + i * Counts::from_number_to_number,
                 make_float2(factor * (n * n), masked(compared.curvature(), keep)));
    return factor;
  }

 private:
  template <bool by_likelihood>
  __device__ __forceinline__ auto compared_with(float count, float intensity, Sums& sum) const {
    if constexpr (by_likelihood)
      return LikelihoodComparison<n>(scan_.noise, count, intensity, sum);
    else
      return Comparison<n>(count, intensity, sum);
  }
};

#endif

}  // namespace tessera::physics::hot_path
