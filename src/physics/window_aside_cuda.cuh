#pragma once
/// The detector of windows of which a block has several modes in turn: spectra are put aside until
/// the last one's is there, and recalled when all have been compared.

#include "window_detector_cuda.cuh"

namespace tessera::physics::hot_path {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

template <int shares, bool plain>
class AsideDetector : public WindowDetector<128, float, shares, false, plain, true> {
  static constexpr int n = 128;
  using S = Slices<n>;
  using Chip = OnChip<n, float, shares, false, true>;
  using Detector = WindowDetector<n, float, shares, false, plain, true>;
  using Detector::chip_;
  using Detector::lane_;
  using Detector::thread_;

 public:
  using Detector::read_spectrum;
  using Detector::wait_for_window;
  using Detector::write_slices;

  /// @param aside room for the spectra of `n_aside` modes of every block, (block, mode, 16, thread)
  __device__ AsideDetector(const ScanArrays& scan, const ChunkArrays& chunk, float4* aside,
                           int n_aside, Chip& chip)
      : Detector(scan, chunk, chip),
        aside_(aside + std::int64_t{16} * threads * n_aside * blockIdx.x + thread_),
        n_aside_(n_aside) {}

  /// The spectrum of the block's mode m leaves the slices.
  /// @param between (number) what is done besides: before, between and behind the halves
  template <class Between>
  __device__ __forceinline__ void put_aside(int m, const Between& between) const {
    wait_for_window();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      between(half);
      float2 x[16 / S::last][S::last];
      read_spectrum(half, x);
#pragma unroll
      for (int i = 0; i < 16; i += 2) {
        const float2 a = x[i / S::last][i % S::last];
        const float2 b = x[i / S::last][i % S::last + 1];
        store(m, 8 * half + i / 2, make_float4(a.x, a.y, b.x, b.y));
      }
    }
    between(2);
    wait_for_window();
  }

  /// The spectrum of the last mode is in the slices: all are compared, and it goes back.
  __device__ __forceinline__ void compare(const Place& place) {
    float4 powers[8] = {};
#pragma unroll 1
    for (int m = 0; m < n_aside_; ++m)
#pragma unroll
      for (int g = 0; g < 8; ++g) {
        const float4 first = load(m, 2 * g);
        const float4 second = load(m, 2 * g + 1);
        powers[g].x += power(make_float2(first.x, first.y));
        powers[g].y += power(make_float2(first.z, first.w));
        powers[g].z += power(make_float2(second.x, second.y));
        powers[g].w += power(make_float2(second.z, second.w));
      }
    Detector::compare_modes(place, [&](int g, float4& sum) {
      sum = make_float4(sum.x + powers[g].x, sum.y + powers[g].y, sum.z + powers[g].z,
                        sum.w + powers[g].w);
    });
  }

  /// What the comparison makes of mode m goes back.
  __device__ __forceinline__ void recall(int m) const {
    float2 x[2][16 / S::last][S::last];
#pragma unroll
    for (int g = 0; g < 8; ++g) {
      const float4 first = load(m, 2 * g);
      const float4 second = load(m, 2 * g + 1);
      const float4 factor = Detector::factor_of(g);
      const auto four = [&](int e) -> float2& { return Detector::four_of(x, g, e); };
      four(0) = make_float2(first.x, first.y) * factor.x;
      four(1) = make_float2(first.z, first.w) * factor.y;
      four(2) = make_float2(second.x, second.y) * factor.z;
      four(3) = make_float2(second.z, second.w) * factor.w;
    }
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int i = 0; i < 16 / S::last; ++i) short_fft<S::last, 1>(x[half][i]);
    if (lane_ == 0) wait_until_read();
    wait_for_window();
#pragma unroll
    for (int half = 0; half < 2; ++half) write_slices(half, x[half]);
    wait_for_window();
  }

 private:
  float4* const aside_;  ///< of the thread
  const int n_aside_;

  /// Two pixels of mode m, the thread's pair of 16: on the chip as far as it has room.
  __device__ __forceinline__ void store(int m, int pair, float4 both) const {
    if (pair < Chip::aside_here && m == 0)
      chip_.aside[pair][thread_] = both;
    else
      __stcg(aside_ + (16 * m + pair) * threads, both);
  }
  __device__ __forceinline__ float4 load(int m, int pair) const {
    if (pair < Chip::aside_here && m == 0) return chip_.aside[pair][thread_];
    return __ldcg(aside_ + (16 * m + pair) * threads);
  }
};

#endif

}  // namespace tessera::physics::hot_path
