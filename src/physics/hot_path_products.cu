/// What directions change in exit waves, of chunks whose gradient left its residual and its probes
/// in the chip's order: dP is shifted to every place where a window lies on the chip, and
/// multiplied there.

#include "shift_ramp_cuda.cuh"
#include "window_products_cuda.cuh"
#include "window_sums_cuda.cuh"

namespace tessera::physics::hot_path {
namespace {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// @tparam own places have probes for themselves
template <int n, bool own>
class WindowProducts {
  using S = Slices<n>;
  using Chip = OnChip<n, float, 0, true>;
  using Registers = float2[S::across][S::rows];
  static constexpr int window_threads = 32 * S::count;
  static constexpr int ramps = n / S::here;  ///< frequencies of an axis that a warp makes
  static constexpr int ahead = 4;            ///< pixels whose loads are on their way

 public:
  __device__ WindowProducts(const ScanArrays& scan, const ChunkArrays& chunk,
                            const Directions& directions, const ShiftsOnChip& shifts,
                            const OwnProbes& own_probes, Chip& chip)
      : scan_(scan),
        chunk_(chunk),
        directions_(directions),
        shifts_(shifts),
        own_probes_(own_probes),
        chip_(chip),
        over_slices_(chip),
        transform_{chip.slices[warp_], lane_, chip.twist_of_lane[lane_]} {
    chip.prepare(thread_);
    __syncthreads();
  }

  /// One mode at one place. Every warp of the window comes here.
  __device__ __forceinline__ void add(int number) {
    const int mode = number % scan_.n_modes;
    const int j = number / scan_.n_modes;
    const Place place = place_of(scan_, chunk_, j);
    const int position = scan_.order[chunk_.begin + j];
    make_ramps(own ? position : place.slot);
    over_slices_.wait_for_all();
    write_spectrum(mode, position);
    over_slices_.finish_over_slices();
    Registers direction;
    transform_.backward(direction, chip_.twist_of_slice[slice_]);
    multiply(place, static_cast<std::int64_t>(number) * (n * n), direction,
             directions_.products + 5 * j);
  }

 private:
  const ScanArrays& scan_;
  const ChunkArrays& chunk_;
  const Directions& directions_;
  const ShiftsOnChip& shifts_;
  const OwnProbes& own_probes_;
  Chip& chip_;
  const int thread_ = static_cast<int>(threadIdx.x);
  const int warp_ = warp_of_block();
  const int lane_ = thread_ % 32;
  const int slice_ = slice_of<n>(warp_);
  const int window_ = warp_ / S::here;
  OverSlices<n, Chip> over_slices_;
  SliceTransform<n> transform_;

  /// Of a thread, in an image in the chip's order.
  __device__ __forceinline__ int first_number() const {
    return over_slices_.number_of_warp() * 32 + lane_;
  }

  /// A warp's frequencies of both axes: lane = (axis, frequency).
  __device__ __forceinline__ void make_ramps(int slot) const {
    if (lane_ >= 2 * ramps) return;
    const int axis = lane_ / ramps;
    const int k = warp_ % S::here * ramps + lane_ % ramps;
    const float shift = __ldg(shifts_.shift + 2 * static_cast<std::int64_t>(slot) + axis);
    chip_.ramp[window_][0][axis][k] = own ? far_shift_ramp<n>(k, shift) : shift_ramp<n>(k, shift);
  }

  /// dP's spectrum, moved to the place, on its way back.
  __device__ __forceinline__ void write_spectrum(int mode, int position) const {
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
      const int first = first_number() + 16 * half * window_threads;
      float2 x[16 / S::last][S::last];
      const auto each = [&](const auto& f) {
#pragma unroll
        for (int i = 0; i < 16; ++i) f(i, x[i / S::last][i % S::last]);
      };
      const float2* const spectrum = as_float2(shifts_.spectrum) + first;
      each([&](int i, float2& d) {
        d = __ldg(spectrum + static_cast<std::int64_t>(mode) * (n * n) + i * window_threads);
      });
      if constexpr (own) {
        for (int k = 0; mode == 0 && k < own_probes_.n_opr; ++k) {
          const float weight = __ldg(own_probes_.opr_weight + position * own_probes_.n_opr + k);
          const float2* const plane =
              spectrum + static_cast<std::int64_t>(scan_.n_modes + k) * (n * n);
          each([&](int i, float2& d) { d = d + __ldg(plane + i * window_threads) * weight; });
        }
        const float amplitude = scan_.intensity ? sqrtf(__ldg(scan_.intensity + position)) : 1.F;
        each([&](int, float2& d) { d = d * amplitude; });
      }
      const auto& ramp = chip_.ramp[window_][0];
      each([&](int i, float2& d) {
        d = d * (ramp[0][over_slices_.row(half, i)] * ramp[1][over_slices_.column(half, i)]);
      });
#pragma unroll
      for (int i = 0; i < 16 / S::last; ++i) short_fft<S::last, 1>(x[i]);
      over_slices_.write_slices(half, x);
    }
  }

  /// products += those of u = P dO, v = dP O and chi. @param image of the place's mode
  __device__ __forceinline__ void multiply(const Place& place, std::int64_t image,
                                           const Registers& direction, double* products) const {
    const float2* const probe = as_float2(shifts_.kept) + image + first_number();
    const float2* const residual = as_float2(shifts_.chi) + image + first_number();
    const auto width = static_cast<unsigned>(chunk_.object_width);
    const unsigned corner = place.object + slice_ * width + lane_;
    struct Pixel {
      float2 object;
      float2 object_direction;
      float2 probe;
      float2 chi;
    };
    const auto load = [&](int i) -> Pixel {
      const unsigned at = corner + i / S::across * S::count * width + 32 * (i % S::across);
      return {load_here(as_float2(chunk_.object) + at),
              load_here(as_float2(directions_.object) + at), __ldcs(probe + i * window_threads),
              __ldcs(residual + i * window_threads)};
    };
    Pixel loaded[ahead];
#pragma unroll
    for (int i = 0; i < ahead; ++i) loaded[i] = load(i);
    ProductSums sum = {};
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const Pixel pixel = loaded[i % ahead];
      if (i + ahead < 32) loaded[i % ahead] = load(i + ahead);
      const float2 u = pixel.probe * pixel.object_direction;
      const float2 v = direction[i % S::across][i / S::across] * pixel.object;
      add_products(sum, u, v, pixel.chi);
    }
    add_to(products, sum, lane_);
  }
};

#endif

template <int n, bool own>
__global__ void __launch_bounds__(threads, 1)
    window_products_kernel(const __grid_constant__ ScanArrays scan,
                           const __grid_constant__ ChunkArrays chunk,
                           const __grid_constant__ Directions directions,
                           const __grid_constant__ ShiftsOnChip shifts,
                           const __grid_constant__ OwnProbes own_probes) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared[];
  using Chip = OnChip<n, float, 0, true>;
  WindowProducts<n, own> products(scan, chunk, directions, shifts, own_probes,
                                  *reinterpret_cast<Chip*>(shared));
  follow_earlier_kernels();
  const WindowRun run(chunk.count * scan.n_modes, Slices<n>::blocks, Chip::windows);
  // The gradient kept these last: they are still in the cache.
  for (int number = run.last - 1; number >= run.first; --number) products.add(number);
#endif
}

template <bool own>
void launch_products(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                     const Directions& directions, const ShiftsOnChip& shifts,
                     const OwnProbes& own_probes) {
  if (chunk.count == 0) return;
  with_chip_size(scan.n, [&](auto size) {
    using Chip = OnChip<size, float, 0, true>;
    launch_clusters(window_products_kernel<size, own>, Slices<size>::blocks,
                    chunk.count * scan.n_modes, threads, sizeof(Chip) / sizeof(float2), stream,
                    scan, chunk, directions, shifts, own_probes);
  });
}

}  // namespace

void add_products_and_shift(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                            const Directions& directions, const ShiftsOnChip& shifts) {
  launch_products<false>(stream, scan, chunk, directions, shifts, {});
}

void add_products_of_own_probes(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                                const Directions& directions, const ShiftsOnChip& shifts,
                                const OwnProbes& own) {
  launch_products<true>(stream, scan, chunk, directions, shifts, own);
}

}  // namespace tessera::physics::hot_path
