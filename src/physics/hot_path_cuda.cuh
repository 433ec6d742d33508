#pragma once
/// What the kernels of the hot path share: indices, atomics, launches.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "hot_path.hpp"
#include "line_fft_cuda.cuh"

namespace tessera::physics::hot_path {

__host__ __device__ inline float2* as_float2(Complex* p) {
  return reinterpret_cast<float2*>(p);
}
__host__ __device__ inline const float2* as_float2(const Complex* p) {
  return reinterpret_cast<const float2*>(p);
}

/// First pixel of row (or column) `at` of image (i, m).
__device__ __forceinline__ std::int64_t image_row(std::int64_t i, int n_modes, int m, int n,
                                                  int at) {
  return ((i * n_modes + m) * n + at) * n;
}

/// Of the place j of a chunk.
__device__ __forceinline__ int slot_of(const ScanArrays& scan, const ChunkArrays& chunk, int j) {
  if (scan.own_slots) return j;
  return scan.slot ? scan.slot[chunk.begin + j] : 0;
}

/// sum += v, sum 16-byte aligned.
__device__ __forceinline__ void add_float4(float* sum, float4 v) {
#if __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(sum)),
               "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)
               : "memory");
#else
  atomicAdd(sum, v.x);
  atomicAdd(sum + 1, v.y);
  atomicAdd(sum + 2, v.z);
  atomicAdd(sum + 3, v.w);
#endif
}

/// sum += v
__device__ __forceinline__ void add_float2(float2* sum, float2 v) {
#if __CUDA_ARCH__ >= 900
  atomicAdd(sum, v);
#else
  atomicAdd(&sum->x, v.x);
  atomicAdd(&sum->y, v.y);
#endif
}

/// Where a thread of a column kernel works: `columns` neighbours of one window at a time, so that
/// every access to a row touches whole sectors.
template <int n, int columns>
struct ColumnBlock {
  static constexpr int groups = n / columns;
  static constexpr int mode_threads = columns * Line<n>::threads;
  int x = static_cast<int>(blockIdx.x) % groups * columns + static_cast<int>(threadIdx.x) % columns;
  int j = static_cast<int>(blockIdx.x) / groups;
  int t = static_cast<int>(threadIdx.x) / columns % Line<n>::threads;
  int mode = static_cast<int>(threadIdx.x) / mode_threads;
};

/// Columns of a block of 128 threads, or four: a sector.
template <int n>
constexpr int columns_of_block = Line<n>::threads > 32 ? 4 : 128 / Line<n>::threads;

/// f(n) with n known at compile time.
template <class F>
void with_size(int n, const F& f) {
  switch (n) {
    case 32:
      return f(std::integral_constant<int, 32>());
    case 64:
      return f(std::integral_constant<int, 64>());
    case 128:
      return f(std::integral_constant<int, 128>());
    case 256:
      return f(std::integral_constant<int, 256>());
    case 512:
      return f(std::integral_constant<int, 512>());
    case 1024:
      return f(std::integral_constant<int, 1024>());
    default:
      throw std::logic_error("hot_path: window of " + std::to_string(n) +
                             " pixels; ask hot_path::supports first");
  }
}

/// The same of a window that fits on the chip.
template <class F>
void with_chip_size(int n, const F& f) {
  switch (n) {
    case 64:
      return f(std::integral_constant<int, 64>());
    case 128:
      return f(std::integral_constant<int, 128>());
    default:
      return f(std::integral_constant<int, 256>());
  }
}

/// The same of a window whose waves are kept as spectra.
template <class F>
void with_spectra_size(int n, const F& f) {
  n == 64 ? f(std::integral_constant<int, 64>()) : f(std::integral_constant<int, 128>());
}

inline void check(cudaError_t status) {
  if (status != cudaSuccess)
    throw std::runtime_error(std::string("hot_path: ") + cudaGetErrorString(status));
}

/// @param n_shared float2 of shared memory
template <class... Parameters>
void allow_shared(void (*kernel)(Parameters...), int n_shared) {
  constexpr std::size_t without_asking = 48 << 10;
  const std::size_t shared_bytes = sizeof(float2) * n_shared;
  if (shared_bytes > without_asking)
    check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes)));
}

/// Call before reading or writing what other kernels write or read. Kernels start while those
/// before them end, so that a chain of short ones does not wait for each launch (Hopper's
/// programmatic dependent launch). Started even earlier their waiting blocks were measured to be in
/// the way.
__device__ __forceinline__ void follow_earlier_kernels() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

inline bool kernels_may_overlap() {
  static const bool may = [] {
    int device = 0;
    int major = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    return major >= 9;
  }();
  return may;
}

/// @param n_shared float2 of shared memory
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, int threads, int n_shared, void* stream,
            const Arguments&... arguments) {
  allow_shared(kernel, n_shared);
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = sizeof(float2) * n_shared;
  config.stream = static_cast<cudaStream_t>(stream);
  config.attrs = &overlap;
  config.numAttrs = kernels_may_overlap() ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}

inline int multiprocessors() {
  static const int count = [] {
    int device = 0;
    int n = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, device));
    return n;
  }();
  return count;
}

/// Items that a block takes in turn, when `blocks_per_run` blocks take them together and a
/// multiprocessor holds `resident` blocks. What a block adds up meanwhile costs atomics only at the
/// end, about as much as an item; and blocks that find no room wait until others have ended.
inline int run_length(int items, int blocks_per_run, int resident = 4) {
  int best = items;
  int best_cost = 0;
  for (int rounds = 1; rounds <= 4; ++rounds) {
    const int runs = rounds * resident * multiprocessors() / blocks_per_run;
    const int run = runs < 1 ? items : (items + runs - 1) / runs;
    const int cost = rounds * (run + 1);
    if (runs >= 1 && (best_cost == 0 || cost < best_cost)) {
      best = run;
      best_cost = cost;
    }
  }
  return best;
}

/// Blocks that a multiprocessor holds at a time.
/// @param n_shared float2 of shared memory
template <class... Parameters>
int resident_blocks(void (*kernel)(Parameters...), int threads, int n_shared) {
  allow_shared(kernel, n_shared);
  int count = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, kernel, threads,
                                                      sizeof(float2) * n_shared));
  return count;
}

}  // namespace tessera::physics::hot_path
