#pragma once
/// Transforms of lines (rows or columns) that stay on the chip, n = 32 ... 1024, unnormalised.
///
/// n = elements x threads: each of `threads` threads holds elements t, t + threads, ... of its line
/// before and after, so that a chain of transforms and pixelwise work needs no reordering. One
/// exchange through shared memory (Cooley & Tukey 1965): with x = t + threads a and
/// k = p + elements q, X(k) = sum_t W_threads^(t q) W_n^(t p) sum_a W_elements^(a p) v(t, a).
/// From 512 on a thread's registers do not hold the sum over t: it is split again, 64 = 8 x 8, and
/// exchanged twice.

#include <cuda_runtime.h>

namespace tessera::physics::hot_path {

__device__ __forceinline__ float2 operator+(float2 a, float2 b) {
  return make_float2(a.x + b.x, a.y + b.y);
}
__device__ __forceinline__ float2 operator-(float2 a, float2 b) {
  return make_float2(a.x - b.x, a.y - b.y);
}
__device__ __forceinline__ float2 operator*(float2 a, float s) {
  return make_float2(a.x * s, a.y * s);
}
__device__ __forceinline__ float2 operator*(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__device__ __forceinline__ float2 conjugate(float2 a) {
  return make_float2(a.x, -a.y);
}
/// conj(a) b
__device__ __forceinline__ float2 conj_times(float2 a, float2 b) {
  return make_float2(a.x * b.x + a.y * b.y, a.x * b.y - a.y * b.x);
}
__device__ __forceinline__ float power(float2 a) {
  return a.x * a.x + a.y * a.y;
}

/// How a line of n is dealt out.
template <int n>
struct Line {
  static constexpr int elements = n == 128 || n == 256 || n == 1024 ? 16 : 8;  ///< of one thread
  static constexpr int threads = n / elements;
  static constexpr bool is_split = threads > elements;
  static_assert(elements * threads == n && (!is_split || threads == 64));
  /// Blocks of 128 threads that the registers of a multiprocessor must hold.
  static constexpr int min_blocks = elements == 16 ? 5 : 8;
  /// From p to p + 1 in the buffer, so that no two threads meet in a bank of shared memory. Threads
  /// of a split line that read are neighbours in p, eight or more of one row in half a warp.
  template <int stride>
  static constexpr int pitch = threads + (is_split && stride == 1 ? 16 / elements : 1);
  /// From r to r + 1 in the second exchange of a split line.
  static constexpr int split_pitch = 8 * elements + (elements == 8 ? 8 : 0);
  /// float2 that the exchange of a line needs.
  static constexpr int buffer =
      is_split && elements == 8 ? 8 * split_pitch : elements * (threads + 1);
};

/// cos(2 pi k / 32)
__device__ constexpr float cosine_32(int k) {
  constexpr float quarter[9] = {1.F,
                                0.98078528040323045F,
                                0.92387953251128676F,
                                0.83146961230254524F,
                                0.70710678118654752F,
                                0.55557023301960222F,
                                0.38268343236508977F,
                                0.19509032201612827F,
                                0.F};
  const int half = k <= 16 ? k : 32 - k;
  return half <= 8 ? quarter[half] : -quarter[16 - half];
}

/// upper, lower = a + w b, a - w b with w = exp(sign 2 pi i k / n); k is known when unrolled.
template <int n, int sign>
__device__ __forceinline__ void butterfly(int k, float2 a, float2 b, float2& upper, float2& lower) {
  if (k == 0 || 4 * k == n) {
    const float2 turned = k == 0 ? b : make_float2(-sign * b.y, sign * b.x);
    upper = a + turned;
    lower = a - turned;
    return;
  }
  const float c = cosine_32(k * (32 / n));
  const float s = sign * cosine_32(((k * (32 / n)) + 24) % 32);
  upper = make_float2(fmaf(c, b.x, fmaf(-s, b.y, a.x)), fmaf(c, b.y, fmaf(s, b.x, a.y)));
  lower = make_float2(fmaf(2.F, a.x, -upper.x), fmaf(2.F, a.y, -upper.y));
}

/// Transform of n <= 32 numbers of one thread, in registers. @tparam sign of the exponent
template <int n, int sign>
__device__ __forceinline__ void short_fft(float2 (&v)[n]) {
  if constexpr (n > 1) {
    float2 even[n / 2];
    float2 odd[n / 2];
#pragma unroll
    for (int i = 0; i < n / 2; ++i) {
      even[i] = v[2 * i];
      odd[i] = v[2 * i + 1];
    }
    short_fft<n / 2, sign>(even);
    short_fft<n / 2, sign>(odd);
#pragma unroll
    for (int k = 0; k < n / 2; ++k) butterfly<n, sign>(k, even[k], odd[k], v[k], v[k + n / 2]);
  }
}

/// Fills `twiddles` (n, shared memory) for `transform`. Every thread of the block calls.
template <int n>
__device__ __forceinline__ void make_twiddles(float2* twiddles) {
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
    const int turns = (i / Line<n>::threads) * (i % Line<n>::threads);
    sincospif(-2.F * static_cast<float>(turns) / n, &twiddles[i].y, &twiddles[i].x);
  }
  __syncthreads();
}

/// A row's threads are neighbours in the block, a column's are all over it.
enum class Lines { rows, columns };

/// Waits for the threads of a row, or for the block's.
template <int n, Lines lines>
__device__ __forceinline__ void synchronise() {
  constexpr int threads = Line<n>::threads;
  if constexpr (lines == Lines::columns) {
    __syncthreads();
  } else if constexpr (threads <= 32) {
    __syncwarp();
  } else {
    const int barrier = 1 + static_cast<int>(threadIdx.x) / threads;  // 0 is the block's
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(threads) : "memory");
  }
}

/// v w, or v conj(w) backwards
template <int sign>
__device__ __forceinline__ float2 twiddled(float2 v, float2 w) {
  return sign < 0 ? v * w : conj_times(w, v);
}

/// The sum over t of `transform`, from the buffer, whole.
template <int n, int sign, int stride>
__device__ __forceinline__ void sum_over_threads(float2 (&v)[Line<n>::elements], int t,
                                                 const float2* buffer) {
  using L = Line<n>;
  const float2* const from = buffer + t * L::template pitch<stride> * stride;
  constexpr int repeats = L::elements / L::threads;
#pragma unroll
  for (int i = 0; i < repeats; ++i) {
    float2 part[L::threads];
#pragma unroll
    for (int b = 0; b < L::threads; ++b)
      part[b] = from[(L::threads * i * L::template pitch<stride> + b) * stride];
    short_fft<L::threads, sign>(part);
#pragma unroll
    for (int q = 0; q < L::threads; ++q) v[i + repeats * q] = part[q];
  }
}

/// The same in two steps: with t = c + 8 b and q = r + 8 s,
/// sum_c W_8^(c s) W_64^(c r) sum_b W_8^(b r). A thread takes pairs (p, c), then pairs (p, r).
template <int n, int sign, Lines lines, int stride>
__device__ __forceinline__ void split_sum_over_threads(float2 (&v)[Line<n>::elements], int t,
                                                       const float2* twiddles, float2* buffer) {
  using L = Line<n>;
  constexpr int repeats = L::elements / 8;
  constexpr int step = L::threads / L::elements;  // of c and r from pair to pair of a thread
  const int p = t % L::elements;
  const int c_or_r = t / L::elements;
  const float2* from = buffer + (p * L::template pitch<stride> + c_or_r) * stride;
#pragma unroll
  for (int i = 0; i < repeats; ++i) {
    float2 part[8];
#pragma unroll
    for (int b = 0; b < 8; ++b) part[b] = from[(step * i + 8 * b) * stride];
    short_fft<8, sign>(part);
    v[i] = part[0];
    // W_64^(c r) = W_n^(repeats r  8 c)
    const float2* const factors = twiddles + 8 * (c_or_r + step * i);
#pragma unroll
    for (int r = 1; r < 8; ++r)
      v[i + repeats * r] = twiddled<sign>(part[r], factors[repeats * r * L::threads]);
  }
  synchronise<n, lines>();
  float2* const to = buffer + t * stride;
#pragma unroll
  for (int i = 0; i < repeats; ++i)
#pragma unroll
    for (int r = 0; r < 8; ++r)
      to[(r * L::split_pitch + L::threads * i) * stride] = v[i + repeats * r];
  synchronise<n, lines>();
  from = buffer + (c_or_r * L::split_pitch + p) * stride;
#pragma unroll
  for (int i = 0; i < repeats; ++i) {
    float2 part[8];
#pragma unroll
    for (int c = 0; c < 8; ++c)
      part[c] = from[(step * i * L::split_pitch + L::elements * c) * stride];
    short_fft<8, sign>(part);
#pragma unroll
    for (int s = 0; s < 8; ++s) v[i + repeats * s] = part[s];
  }
}

/// Transform of the line whose thread t holds v. Every thread that `synchronise` waits for calls;
/// those of a row that takes several warps are neighbours from a multiple of their number on.
/// @param buffer the line's first float2 in shared memory; its elements are `stride` apart
template <int n, int sign, Lines lines, int stride>
__device__ __forceinline__ void transform(float2 (&v)[Line<n>::elements], int t,
                                          const float2* twiddles, float2* buffer) {
  using L = Line<n>;
  short_fft<L::elements, sign>(v);
  // Also keeps writers behind the readers of the transform before.
  synchronise<n, lines>();
  float2* const to = buffer + t * stride;
  const float2* const factors = twiddles + t;
  to[0] = v[0];
#pragma unroll
  for (int p = 1; p < L::elements; ++p)
    to[p * L::template pitch<stride> * stride] = twiddled<sign>(v[p], factors[p * L::threads]);
  synchronise<n, lines>();
  if constexpr (L::is_split) {
    split_sum_over_threads<n, sign, lines, stride>(v, t, twiddles, buffer);
  } else {
    sum_over_threads<n, sign, stride>(v, t, buffer);
  }
}

/// A block of rows: `row_threads` threads, `rows` rows, thread t of a row next to thread t + 1.
template <int n>
struct RowBlock {
  static constexpr int threads = 128;
  static constexpr int rows = threads / Line<n>::threads;
  /// float2 from row to row in shared memory: rows of a warp in different banks, 16-byte aligned.
  static constexpr int skew(int size) {
    return Line<n>::threads < 16 ? size + (Line<n>::threads - size % 16 + 16) % 16 : size;
  }
  static constexpr int buffer_pitch = skew(Line<n>::buffer);
  int t = static_cast<int>(threadIdx.x) % Line<n>::threads;
  int row = static_cast<int>(threadIdx.x) / Line<n>::threads;
};

}  // namespace tessera::physics::hot_path
