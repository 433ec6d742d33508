#pragma once
/// Copies and additions that the multiprocessor's copy engine makes while threads compute, and
/// reads of the shared memory of neighbouring blocks: Hopper and later.

#include <algorithm>
#include <cstdint>

#include <cuda.h>

#include "hot_path_cuda.cuh"

namespace tessera::physics::hot_path {

/// An array of `rows` rows of `columns` float2, of which boxes of box_rows x box_columns are added
/// to.
/// @param array 16-byte aligned
/// @param columns even
CUtensorMap make_boxes(void* array, std::int64_t columns, std::int64_t rows, int box_columns,
                       int box_rows);

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

// Earlier chips have none of it: `fits_on_chip` is false there.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// Of what is read once an epoch: it leaves the second-level cache before what is used again.
__device__ __forceinline__ std::uint64_t read_once() {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/// Brings what is read once an epoch to the second-level cache. 16-byte aligned, bytes a multiple
/// of 16.
__device__ __forceinline__ void fetch_once(const void* data, int bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global.L2::cache_hint [%0], %1, %2;" ::"l"(
                   __cvta_generic_to_global(data)),
               "r"(bytes), "l"(read_once()));
}

/// What threads wrote to shared memory is seen by the copy engine.
__device__ __forceinline__ void show_to_copy_engine() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// sum[0 ... count) += staged[0 ... count): both 16-byte aligned, count even. `staged` is read
/// until `wait_until_read`, the sum is there after `wait_until_added`.
__device__ __forceinline__ void start_addition(float2* sum, const float2* staged, int count) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(sum)),
               "r"(shared_address(staged)), "r"(count * static_cast<int>(sizeof(float2)))
               : "memory");
}
/// The same of a box from (row, column) on: column even, staged 128-byte aligned and dense.
__device__ __forceinline__ void start_addition(const CUtensorMap& boxes, int row, int column,
                                               const float2* staged) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], "
      "[%3];" ::"l"(&boxes),
      "r"(2 * column), "r"(row), "r"(shared_address(staged))
      : "memory");
}
__device__ __forceinline__ void commit_additions() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ __forceinline__ void wait_until_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
/// All but those of the last commitment.
__device__ __forceinline__ void wait_until_earlier_read() {
  asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
}
__device__ __forceinline__ void wait_until_added() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/// Where one thread starts copies into shared memory and many wait for them.
struct Arrival {
  std::uint64_t state;

  __device__ void make() {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&state)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  /// Of what is read once an epoch. Both 16-byte aligned, bytes a multiple of 16.
  __device__ void start_copy(void* to, const void* from, int bytes) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&state)),
        "r"(bytes)
        : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
        "[%1], %2, [%3], %4;" ::"r"(shared_address(to)),
        "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(&state)),
        "l"(read_once())
        : "memory");
  }
  /// @param parity of the copy's number, which counts from 0
  __device__ void wait(unsigned parity) {
    asm volatile(
        "{\n.reg .pred done;\nagain:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n}" ::"r"(shared_address(&state)),
        "r"(parity)
        : "memory");
  }
};

/// Blocks of a cluster work on one multiprocessor each and see each other's shared memory.
__device__ __forceinline__ unsigned rank_in_cluster() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ int blocks_of_cluster() {
  int size;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}
__device__ __forceinline__ void wait_for_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}
/// Where `address` is in the shared memory of block `rank`.
__device__ __forceinline__ std::uint32_t address_of_block(const void* address, unsigned rank) {
  std::uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there)
      : "r"(shared_address(address)), "r"(rank));
  return there;
}
/// What lies at `address` of the shared memory of block `rank`.
__device__ __forceinline__ float4 read_of_block(const float4* address, unsigned rank) {
  const std::uint32_t there = address_of_block(address, rank);
  float4 v;
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(there)
               : "memory");
  return v;
}
__device__ __forceinline__ float2 read_there(std::uint32_t there) {
  float2 v;
  asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];"
               : "=f"(v.x), "=f"(v.y)
               : "r"(there)
               : "memory");
  return v;
}
__device__ __forceinline__ void write_there(std::uint32_t there, float2 v) {
  asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(there), "f"(v.x), "f"(v.y)
               : "memory");
}

/// Waits for `threads` threads of the block, those that name the same barrier, 1 ... 15.
__device__ __forceinline__ void wait_for_threads(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

#else

struct Arrival {
  std::uint64_t state;
};

#endif

/// As `launch`, in clusters of `size` blocks, as many as the GPU holds at a time, at most
/// `max_clusters`.
template <class... Parameters, class... Arguments>
void launch_clusters(void (*kernel)(Parameters...), int size, int max_clusters, int threads,
                     int n_shared, void* stream, const Arguments&... arguments) {
  allow_shared(kernel, n_shared);
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {static_cast<unsigned>(size), 1, 1};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(size);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = sizeof(float2) * n_shared;
  config.stream = static_cast<cudaStream_t>(stream);
  config.attrs = attributes;
  config.numAttrs = 1;
  int clusters = multiprocessors();
  if (size > 1) check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
  config.gridDim = dim3(size * std::min(clusters, max_clusters));
  config.numAttrs = 2;
  check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}

}  // namespace tessera::physics::hot_path
