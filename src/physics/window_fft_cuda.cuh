#pragma once
/// Transforms of whole windows of n x n that stay in shared memory, n = 64, 128 and 256.
///
/// A window is dealt out in *slices* of 1024 pixels, one for each warp: slice m has the rows
/// y = m + slices b. Within a row x = lane + 32 a. With the frequency of x, kx = ka + (n/32) k, and
/// of y, ky = kb + rows k', a transform is four short ones (Cooley & Tukey 1965, twice for each
/// axis):
///
///     over a and b       in the registers of lane x % 32        -> ka, kb
///     over the lanes     in the registers of lane q = (kb, ka)  -> k
///     over the slices    in the registers of lane k             -> k'
///
/// The first two are a warp's own: it exchanges them through its slice, 32 x 33 places (pitch 33:
/// no two lanes meet in a bank), without waiting for others. Only the last needs all warps of a
/// window.
///
/// A window of 256 x 256 is held by a cluster of four blocks: slice m = i + 4 j is the j-th of
/// block i. The transform over slices is then two, over j *within* a block and over the blocks, for
/// which threads read and write the shared memory of all four:
///
///     over j             in the registers of lane k             -> k' % 16
///     over the blocks    in the registers of lane k             -> k' / 16

#include "line_fft_cuda.cuh"

namespace tessera::physics::hot_path {

/// How a window of n x n is dealt out.
template <int n>
struct Slices {
  static constexpr int count = n * n / 1024;                  ///< of a window, one a warp
  static constexpr int blocks = count > 16 ? count / 16 : 1;  ///< that hold a window together
  static constexpr int here = count / blocks;                 ///< of a window, in one block
  /// Points of the transforms over slices: within a block, where there are several, and the last.
  static constexpr int within = blocks > 1 ? here : 1;
  static constexpr int last = count / within;
  static constexpr int same_q = within / blocks > 1 ? within / blocks : 1;  ///< warps, at the last
  static constexpr int rows = n / count;                                    ///< of a slice
  static constexpr int across = n / 32;  ///< pixels of a row that a lane holds
  static constexpr int pitch = 33;
  static constexpr int places = 32 * pitch;  ///< float2 of a slice
  static constexpr int q_of_warp = 32 * same_q / here;
  static_assert(rows * across == 32 && q_of_warp * last == 32);

  /// From a thread's first pixel of an image to its i-th of 32: x = lane + 32 (i % across) of the
  /// slice's row i / across.
  __host__ __device__ static constexpr int in_image(int i) {
    return i / across * count * n + 32 * (i % across);
  }
};

/// Where frequencies (ky, kx) stand in an image in the order in which threads meet them between the
/// two transforms over slices: number 16 h + i of all threads of the window, one after another.
template <int n>
__device__ __forceinline__ int place_on_chip(int ky, int kx) {
  using S = Slices<n>;
  const int k = ky / S::rows % S::within;
  const int q = ky % S::rows * S::across + kx % S::across;
  const int warp = k / S::same_q * S::here + q / S::q_of_warp * S::same_q + k % S::same_q;
  const int number = q % S::q_of_warp * S::last + ky / (S::rows * S::within);
  return (number * S::count + warp) * 32 + kx / S::across;
}

/// exp(i pi halfturns)
__device__ __forceinline__ float2 unit(float halfturns) {
  float2 w;
  sincospif(halfturns, &w.y, &w.x);
  return w;
}

/// Numbers that `twisted_fft` needs of w = exp(-2 pi i turns): w exp(-2 pi i k / n), k < n / 4,
/// then those of w^2 and n / 2.
/// @return number i of n / 2, conjugate
__device__ __forceinline__ float2 twist_of(int n, float turns, int i) {
  while (n > 2 && i >= n / 4) {
    i -= n / 4;
    n /= 2;
    turns *= 2;
  }
  return unit(2 * (turns + static_cast<float>(i) / static_cast<float>(n)));
}

/// upper, lower = a + w b, a - w b, w = (c, s) for sign = 1 and its conjugate for sign = -1.
template <int sign>
__device__ __forceinline__ void twisted_butterfly(float2 w, float2 a, float2 b, float2& upper,
                                                  float2& lower) {
  const float s = sign * w.y;
  upper = make_float2(fmaf(w.x, b.x, fmaf(-s, b.y, a.x)), fmaf(w.x, b.y, fmaf(s, b.x, a.y)));
  lower = make_float2(fmaf(2.F, a.x, -upper.x), fmaf(2.F, a.y, -upper.y));
}

/// Transform of v_j w^(j sign), as `short_fft`, at the price of its butterflies alone.
/// @param twist what `twist_of` gives, n / 2 numbers
template <int n, int sign>
__device__ __forceinline__ void twisted_fft(float2 (&v)[n], const float2* twist) {
  if constexpr (n == 2) {
    twisted_butterfly<sign>(twist[0], v[0], v[1], v[0], v[1]);
  } else {
    float2 even[n / 2];
    float2 odd[n / 2];
#pragma unroll
    for (int i = 0; i < n / 2; ++i) {
      even[i] = v[2 * i];
      odd[i] = v[2 * i + 1];
    }
    twisted_fft<n / 2, sign>(even, twist + n / 4);
    twisted_fft<n / 2, sign>(odd, twist + n / 4);
#pragma unroll
    for (int k = 0; k < n / 4; ++k) {
      const float2 w = twist[k];
      twisted_butterfly<sign>(w, even[k], odd[k], v[k], v[k + n / 2]);
      twisted_butterfly<sign>(make_float2(-w.y, w.x), even[k + n / 4], odd[k + n / 4], v[k + n / 4],
                              v[k + 3 * n / 4]);
    }
  }
}

/// a w or a conj(w)
template <int sign>
__device__ __forceinline__ float2 turned(float2 a, float2 w) {
  return a * make_float2(w.x, sign * w.y);
}

/// The part of a window's transforms that is a warp's own. v(a, b) is pixel x = lane + 32 a of row
/// b.
template <int n>
struct SliceTransform {
  using S = Slices<n>;
  using Registers = float2[S::across][S::rows];

  float2* slice;
  int lane;
  const float2* of_lane;  ///< twist of exp(-2 pi i lane / n), across / 2 numbers, in shared memory

  /// Pixels to what `store` takes; touches no memory.
  __device__ __forceinline__ void forward(Registers& v) const {
    to_columns(v);
#pragma unroll
    for (int a = 0; a < S::across; ++a) short_fft<S::rows, -1>(v[a]);
  }

  /// To the slice as the transform over slices takes it: place (q, k).
  __device__ __forceinline__ void store(const Registers& v) {
#pragma unroll
    for (int a = 0; a < S::across; ++a)
#pragma unroll
      for (int b = 0; b < S::rows; ++b) slice[S::pitch * (S::across * b + a) + lane] = v[a][b];
    __syncwarp();
    over_lanes<-1>();
  }

  /// The way back. @param of_slice twist of exp(-2 pi i slice / n), rows / 2 numbers
  __device__ __forceinline__ void backward(Registers& v, const float2* of_slice) {
    over_lanes<1>();
    __syncwarp();
    float2 twist[S::rows / 2];
#pragma unroll
    for (int i = 0; i < S::rows / 2; ++i) twist[i] = of_slice[i];
#pragma unroll
    for (int a = 0; a < S::across; ++a) {
#pragma unroll
      for (int b = 0; b < S::rows; ++b) v[a][b] = slice[S::pitch * (S::across * b + a) + lane];
      twisted_fft<S::rows, 1>(v[a], twist);
    }
    float2 twist_of_lane[S::across / 2];
#pragma unroll
    for (int i = 0; i < S::across / 2; ++i) twist_of_lane[i] = of_lane[i];
#pragma unroll
    for (int b = 0; b < S::rows; ++b) {
      float2 line[S::across];
#pragma unroll
      for (int a = 0; a < S::across; ++a) line[a] = v[a][b];
      twisted_fft<S::across, 1>(line, twist_of_lane);
#pragma unroll
      for (int a = 0; a < S::across; ++a) v[a][b] = line[a];
    }
    __syncwarp();
  }

 private:
  /// Over a, and the factors between this and the lanes.
  __device__ __forceinline__ void to_columns(Registers& v) const {
    float2 factor[S::across];
    factor[1] = of_lane[0];
#pragma unroll
    for (int a = 2; a < S::across; ++a) factor[a] = factor[a - 1] * of_lane[0];
#pragma unroll
    for (int b = 0; b < S::rows; ++b) {
      float2 line[S::across];
#pragma unroll
      for (int a = 0; a < S::across; ++a) line[a] = v[a][b];
      short_fft<S::across, -1>(line);
      v[0][b] = line[0];
#pragma unroll
      for (int a = 1; a < S::across; ++a) v[a][b] = turned<-1>(line[a], factor[a]);
    }
  }

  template <int sign>
  __device__ __forceinline__ void over_lanes() {
    float2 v[32];
#pragma unroll
    for (int i = 0; i < 32; ++i) v[i] = slice[S::pitch * lane + i];
    short_fft<32, sign>(v);
#pragma unroll
    for (int i = 0; i < 32; ++i) slice[S::pitch * lane + i] = v[i];
  }
};

}  // namespace tessera::physics::hot_path
