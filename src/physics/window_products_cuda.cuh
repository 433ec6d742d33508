#pragma once
/// The products of what directions change in waves, in kernels that keep windows on the chip.

#include "window_over_slices_cuda.cuh"

namespace tessera::physics::hot_path {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// Of a thread's pixels, in the order of NormalEquations.
using ProductSums = float[5];

__device__ __forceinline__ void add_products(ProductSums& sum, float2 u, float2 v, float2 chi) {
  sum[0] += power(u);
  sum[1] = fmaf(u.x, v.x, fmaf(u.y, v.y, sum[1]));
  sum[2] += power(v);
  sum[3] = fmaf(u.x, chi.x, fmaf(u.y, chi.y, sum[3]));
  sum[4] = fmaf(v.x, chi.x, fmaf(v.y, chi.y, sum[4]));
}

/// products += those of the whole warp.
__device__ __forceinline__ void add_to(double* products, const ProductSums& sum, int lane) {
  float own = 0;
#pragma unroll
  for (int i = 0; i < 5; ++i) {
    const float total = sum_over_warp(sum[i]);
    own = lane == i ? total : own;
  }
  if (lane < 5) atomicAdd(products + lane, static_cast<double>(own));
}

#endif

}  // namespace tessera::physics::hot_path
