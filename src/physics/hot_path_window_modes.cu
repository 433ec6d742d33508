/// The gradient in one kernel whose blocks have several modes each.

#include "window_modes_cuda.cuh"

namespace tessera::physics::hot_path {

namespace {

template <int shares, bool plain>
__global__ void __launch_bounds__(threads, 1)
    window_modes_kernel(const __grid_constant__ ScanArrays scan,
                        const __grid_constant__ ChunkArrays chunk,
                        const __grid_constant__ Boxes boxes, float4* aside) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared[];
  using Chip = OnChip<128, float, shares, false, true>;
  WindowModes<shares, plain> windows(scan, chunk, boxes, aside, *reinterpret_cast<Chip*>(shared));
  follow_earlier_kernels();
  const WindowRun run(chunk.count, blocks_of_cluster(), 1);
  windows.add(run.worker, chunk.count, run.workers);
  leave_cluster<shares>(run);
#endif
}

template <int shares>
void launch_modes(void* stream, const ScanArrays& scan, const ChunkArrays& chunk, int cluster,
                  Complex* waves) {
  using Chip = OnChip<128, float, shares, false, true>;
  static_assert(sizeof(Chip) <= shared_bytes);
  with_comparison(scan, [&](auto plain) {
    launch_clusters(window_modes_kernel<shares, plain>, cluster, chunk.count, threads,
                    sizeof(Chip) / sizeof(float2), stream, scan, chunk, boxes_of<128, Chip>(chunk),
                    reinterpret_cast<float4*>(waves));
  });
}

/// That a block takes in turn (decision 0008); 1: each has one, or windows do not fit.
int modes_of_block(int n_modes) {
  if (n_modes == 6 || n_modes > 8)
    for (const int m : {3, 2})
      if (n_modes % m == 0 && n_modes / m <= 8) return m;
  return 1;
}

}  // namespace

bool takes_modes_in_turn(int n, int n_modes) {
  return kernels_may_overlap() && n == 128 && modes_of_block(n_modes) > 1;
}

void add_gradients_of_modes_in_turn(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                                    Complex* waves) {
  const int cluster = scan.n_modes / modes_of_block(scan.n_modes);
  with_shares(cluster,
              [&](auto shares) { launch_modes<shares>(stream, scan, chunk, cluster, waves); });
}

}  // namespace tessera::physics::hot_path
