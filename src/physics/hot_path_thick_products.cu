/// What directions change in the exit waves of a thick sample, multiplied where windows lie on the
/// chip, of chunks whose gradient kept its exit waves and chi there.

#include "window_products_cuda.cuh"
#include "window_through_slices_cuda.cuh"

namespace tessera::physics::hot_path {
namespace {

/// Counts do not come to the chip.
template <int n>
using ProductsChip = OnChip<n, std::uint8_t, 0>;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

template <int n>
class ThickWindowProducts : private ThroughSlices<n, OverSlices<n, ProductsChip<n>>> {
  using S = Slices<n>;
  using Through = ThroughSlices<n, OverSlices<n, ProductsChip<n>>>;
  using typename Through::Registers;

 public:
  __device__ ThickWindowProducts(const ScanArrays& scan, const ChunkArrays& chunk,
                                 const SliceArrays& slices, const Directions& directions,
                                 const KeptOfSlices& kept, ProductsChip<n>& chip)
      : Through(chunk, slices, chip),
        scan_(scan),
        chunk_(chunk),
        directions_(directions),
        kept_(kept) {}

  /// One mode at one place. Every warp of the window comes here.
  __device__ __forceinline__ void add(int number) {
    const Place place = place_of(scan_, chunk_, number / scan_.n_modes);
    const std::int64_t probe =
        this->first_of_image(place.slot * scan_.n_modes + number % scan_.n_modes);
    const std::int64_t image = this->first_of_image(number);
#pragma unroll 1
    for (int direction = 0; direction < 2; ++direction) {
      Registers v;
      go_through(as_float2(direction == 0 ? directions_.object : chunk_.object) + place.object,
                 as_float2(direction == 0 ? chunk_.probes : directions_.probes) + probe, v);
      if (direction == 0)
        subtract_from(v, as_float2(kept_.exit) + image);
      else
        multiply(v, image, directions_.products + number / scan_.n_modes * 5);
    }
  }

 private:
  const ScanArrays& scan_;
  const ChunkArrays& chunk_;
  const Directions& directions_;
  const KeptOfSlices& kept_;

  /// v = exit waves behind the last slice. @param object the window's first pixel
  __device__ __forceinline__ void go_through(const float2* object, const float2* probe,
                                             Registers& v) {
#pragma unroll 1
    for (int slice = 0;; ++slice) {
      this->enter(object + std::int64_t{slice} * this->plane_, slice == 0 ? probe : nullptr, v,
                  [](int, float2) {});
      if (slice == this->slices_.n_slices - 1) return;
      this->to_slice(v);
      this->template cross_gap<1>(slice);
    }
  }

  /// image = v - image
  __device__ __forceinline__ void subtract_from(const Registers& v, float2* image) const {
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      float2* const pixel = image + this->image_offset(i);
      __stcg(pixel, v[i % S::across][i / S::across] - __ldcg(pixel));
    }
  }

  /// products += those of u, which is kept, v and chi.
  __device__ __forceinline__ void multiply(const Registers& v, std::int64_t image,
                                           double* products) const {
    const float2* const of_object = as_float2(kept_.exit) + image;
    const float2* const residual = as_float2(kept_.chi) + image;
    ProductSums sum = {};
#pragma unroll
    for (int i = 0; i < 32; ++i)
      add_products(sum, __ldcg(of_object + this->image_offset(i)), v[i % S::across][i / S::across],
                   __ldcs(residual + this->image_offset(i)));
    add_to(products, sum, this->lane_);
  }
};

#endif

template <int n>
__global__ void __launch_bounds__(threads, 1)
    thick_window_products_kernel(const __grid_constant__ ScanArrays scan,
                                 const __grid_constant__ ChunkArrays chunk,
                                 const __grid_constant__ SliceArrays slices,
                                 const __grid_constant__ Directions directions,
                                 const __grid_constant__ KeptOfSlices kept) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared[];
  ThickWindowProducts<n> products(scan, chunk, slices, directions, kept,
                                  *reinterpret_cast<ProductsChip<n>*>(shared));
  follow_earlier_kernels();
  const WindowRun run(chunk.count * scan.n_modes, Slices<n>::blocks, ProductsChip<n>::windows);
  // The gradient kept these last: they are still in the cache.
  for (int number = run.last - 1; number >= run.first; --number) products.add(number);
#endif
}

}  // namespace

void add_products_of_slices(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                            const SliceArrays& slices, const Directions& directions,
                            const KeptOfSlices& kept) {
  if (chunk.count == 0) return;
  with_chip_size(scan.n, [&](auto size) {
    launch_clusters(thick_window_products_kernel<size>, Slices<size>::blocks,
                    chunk.count * scan.n_modes, threads,
                    sizeof(ProductsChip<size>) / sizeof(float2), stream, scan, chunk, slices,
                    directions, kept);
  });
}

}  // namespace tessera::physics::hot_path
