/// The hot path's update of the probe.

#include "hot_path_cuda.cuh"

namespace tessera::physics::hot_path {
namespace {

constexpr int warp_threads = 32;

/// The greatest of the warp's values, in every lane.
__device__ __forceinline__ float warp_max(float value) {
#pragma unroll
  for (int step = warp_threads / 2; step > 0; step /= 2)
    value = fmaxf(value, __shfl_xor_sync(~0U, value, step));
  return value;
}

constexpr int overlap_threads = 1024;

/// *max_overlap = max of overlap; *max_power = 0. One block.
__global__ void __launch_bounds__(overlap_threads)
    max_overlap_kernel(const float4* __restrict__ overlap, int n_quads, float* max_overlap,
                       float* max_power) {
  __shared__ float of_warp[overlap_threads / warp_threads];
  const int thread = static_cast<int>(threadIdx.x);
  float max = 0;
  follow_earlier_kernels();
#pragma unroll 4
  for (int i = thread; i < n_quads; i += overlap_threads) {
    const float4 v = overlap[i];
    max = fmaxf(fmaxf(max, fmaxf(v.x, v.y)), fmaxf(v.z, v.w));
  }
  max = warp_max(max);
  if (thread % warp_threads == 0) of_warp[thread / warp_threads] = max;
  __syncthreads();
  if (thread >= warp_threads) return;
  max = warp_max(of_warp[thread]);
  if (thread > 0) return;
  *max_overlap = max;
  *max_power = 0;
}

/// A block takes as many rows as fit a warp, or one that takes several; groups of so many threads
/// share out the modes, which meet in the sum of their powers.
template <int n>
struct GroupRows {
  static constexpr int max_groups = 8;
  static constexpr int group_threads =
      Line<n>::threads > warp_threads ? Line<n>::threads : warp_threads;
  static constexpr int rows = group_threads / Line<n>::threads;
  static constexpr int buffer = rows * RowBlock<n>::buffer_pitch;  ///< float2 of a group's exchange
  int thread = static_cast<int>(threadIdx.x) % group_threads;
  int group = static_cast<int>(threadIdx.x) / group_threads;
  int n_groups = static_cast<int>(blockDim.x) / group_threads;
  int t = thread % Line<n>::threads;
  int row = thread / Line<n>::threads;
  int y = static_cast<int>(blockIdx.x) * rows + row;
};

/// factor: step / weight / n^2 of a thread's pixels, 0 where the weight is.
template <int n>
__device__ __forceinline__ void update_factors(const ProbeUpdate& update, const float* overlap,
                                               float (&factor)[Line<n>::elements]) {
  const float step = *update.step;
  const float regularisation = update.alpha * *update.max_overlap;
#pragma unroll
  for (int s = 0; s < Line<n>::elements; ++s) {
    const float weight = (1 - update.alpha) * overlap[Line<n>::threads * s] + regularisation;
    factor[s] = weight > 0 ? __fdividef(step, weight) * (1.F / n / n) : 0;
  }
}

/// Back along x, update, forward along x, for rows of every mode. Code that runs once takes the
/// time to fetch it: both transforms are one, of conjugates the way back.
template <int n>
__global__ void __launch_bounds__(GroupRows<n>::group_threads* GroupRows<n>::max_groups, 1)
    update_probe_kernel(ProbeUpdate update) {
  using L = Line<n>;
  extern __shared__ float4 shared[];
  auto* const twiddles = reinterpret_cast<float2*>(shared);
  float2* const buffers = twiddles + n;
  make_twiddles<n>(twiddles);
  follow_earlier_kernels();
  const GroupRows<n> rows;
  float2* const exchange =
      buffers + rows.group * rows.buffer + rows.row * RowBlock<n>::buffer_pitch;
  float* const overlap = update.overlap + rows.y * n + rows.t;
  float factor[L::elements];
  update_factors<n>(update, overlap, factor);
  float total[L::elements] = {};
  for (int m = rows.group; m < update.n_modes; m += rows.n_groups) {
    const std::int64_t at = image_row(0, update.n_modes, m, n, rows.y) + rows.t;
    float2* const sum = as_float2(update.probe_sum) + at;
    float2* const probe = as_float2(update.probe) + at;
    float2* const row_spectrum = as_float2(update.row_spectrum) + at;
    float2 v[L::elements];
    float2 p[L::elements];
#pragma unroll
    for (int s = 0; s < L::elements; ++s) {
      v[s] = conjugate(sum[L::threads * s]);
      p[s] = probe[L::threads * s];
      sum[L::threads * s] = make_float2(0, 0);
    }
#pragma unroll 1
    for (bool updated = false;; updated = true) {
      transform<n, -1, Lines::rows, 1>(v, rows.t, twiddles, exchange);
      if (updated) break;
#pragma unroll
      for (int s = 0; s < L::elements; ++s) {
        v[s] = p[s] + conjugate(v[s]) * factor[s];
        probe[L::threads * s] = v[s];
        total[s] += power(v[s]);
      }
    }
#pragma unroll
    for (int s = 0; s < L::elements; ++s) row_spectrum[L::threads * s] = v[s];
  }
  // The modes' powers meet in the exchange buffers; by then every thread knows its factors.
  __syncthreads();
  auto* const power_of = reinterpret_cast<float*>(buffers) + rows.thread;
#pragma unroll
  for (int s = 0; s < L::elements; ++s)
    power_of[2 * rows.group * rows.buffer + rows.group_threads * s] = total[s];
  __syncthreads();
  if (rows.group > 0) return;
#pragma unroll 1
  for (int group = 1; group < rows.n_groups; ++group)
#pragma unroll
    for (int s = 0; s < L::elements; ++s)
      total[s] += power_of[2 * group * rows.buffer + rows.group_threads * s];
  float max = 0;
#pragma unroll
  for (int s = 0; s < L::elements; ++s) {
    max = fmaxf(max, total[s]);
    overlap[L::threads * s] = 0;
  }
  max = warp_max(max);
  // Floats that are not negative are ordered as integers are.
  if (rows.thread % warp_threads == 0)
    atomicMax(reinterpret_cast<int*>(update.max_power), __float_as_int(max));
}

}  // namespace

void update_probe(void* stream, const ProbeUpdate& update) {
  launch(max_overlap_kernel, dim3(1), overlap_threads, 0, stream,
         reinterpret_cast<const float4*>(update.overlap), update.n * update.n / 4,
         update.max_overlap, update.max_power);
  with_size(update.n, [&](auto size) {
    constexpr int n = size;
    using Rows = GroupRows<n>;
    const int n_groups = update.n_modes < Rows::max_groups ? update.n_modes : Rows::max_groups;
    launch(update_probe_kernel<n>, dim3(n / Rows::rows), Rows::group_threads * n_groups,
           n + n_groups * Rows::buffer, stream, update);
  });
}

}  // namespace tessera::physics::hot_path
