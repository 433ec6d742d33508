/// What kernels that keep windows on the chip say of the background, from the order of their
/// threads to that of the detector.

#include "hot_path_window.cuh"
#include "window_fft_cuda.cuh"

namespace tessera::physics::hot_path {
namespace {

constexpr int threads = 256;

template <int n>
__global__ void __launch_bounds__(threads)
    gather_background_slopes_kernel(const __grid_constant__ ChunkArrays chunk) {
  follow_earlier_kernels();
  const int pixel = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
  float2* const left = reinterpret_cast<float2*>(chunk.background_slopes_on_chip) +
                       place_on_chip<n>(pixel / n, pixel % n);
  float2* const sum = reinterpret_cast<float2*>(chunk.background_slopes) + pixel;
  *sum = make_float2(sum->x + left->x, sum->y + left->y);
  *left = make_float2(0, 0);
}

}  // namespace

void gather_background_slopes(void* stream, const ScanArrays& scan, const ChunkArrays& chunk) {
  if (!chunk.background_slopes) return;
  with_chip_size(scan.n, [&](auto size) {
    launch(gather_background_slopes_kernel<size>, dim3(size * size / threads), threads, 0, stream,
           chunk);
  });
}

}  // namespace tessera::physics::hot_path
