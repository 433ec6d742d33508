#pragma once
/// The transform over the slices of a window on the chip (`window_fft_cuda.cuh`): which places a
/// thread meets in its last part, where they are of one frequency of the window each, and how they
/// are read and written, of one block or of several.

#include "window_chip_cuda.cuh"

namespace tessera::physics::hot_path {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

__device__ __forceinline__ float sum_over_warp(float v) {
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(~0U, v, step);
  return v;
}

template <int n, class Chip>
class OverSlices {
  using S = Slices<n>;

 public:
  __device__ explicit OverSlices(Chip& chip) : chip_(chip) {}

  /// Every warp of the block's window has come here.
  __device__ __forceinline__ void wait_for_window() const {
    wait_for_threads(1 + window_, 32 * S::here);
  }

  /// Every warp of the whole window has.
  __device__ __forceinline__ void wait_for_all() const {
    if constexpr (S::blocks > 1)
      wait_for_cluster();
    else
      wait_for_window();
  }

  /// One thread of a window that one block holds.
  __device__ __forceinline__ bool leads_window() const {
    return lane_ == 0 && warp_ % S::here == 0;
  }

  /// Up to the last part, and behind it. Every warp of the window has come there.
  __device__ __forceinline__ void start_over_slices() const {
    wait_for_window();
    if constexpr (S::blocks > 1) {
      transform_within<-1>();
      wait_for_cluster();
    }
  }
  __device__ __forceinline__ void finish_over_slices() const {
    if constexpr (S::blocks > 1) {
      wait_for_cluster();
      transform_within<1>();
    }
    wait_for_window();
  }

  /// What the last part takes and leaves: 16 pixels of the detector, 16 / last transforms.
  using Lasts = float2[16 / S::last][S::last];
  __device__ __forceinline__ void read_slices(int half, Lasts& x) const {
#pragma unroll
    for (int i = 0; i < 16; ++i)
      if constexpr (S::blocks > 1)
        x[i / S::last][i % S::last] = read_there(place_of_block(half, i));
      else
        x[i / S::last][i % S::last] = *place_here(half, i);
  }
  __device__ __forceinline__ void write_slices(int half, const Lasts& x) const {
#pragma unroll
    for (int i = 0; i < 16; ++i)
      if constexpr (S::blocks > 1)
        write_there(place_of_block(half, i), x[i / S::last][i % S::last]);
      else
        *place_here(half, i) = x[i / S::last][i % S::last];
  }
  /// x = the spectrum there: what they hold, through the last part.
  __device__ __forceinline__ void read_spectrum(int half, Lasts& x) const {
    read_slices(half, x);
#pragma unroll
    for (int i = 0; i < 16 / S::last; ++i)
      twisted_fft<S::last, -1>(x[i], last_twist(half, i * S::last));
  }
  __device__ __forceinline__ const float2* last_twist(int half, int i) const {
    return chip_.twist_over_slices[place_q(half, i) / S::across + S::rows * first_k()];
  }

  /// The warp's number where frequencies stand in the chip's order.
  __device__ __forceinline__ int number_of_warp() const {
    if constexpr (S::blocks > 1)
      return static_cast<int>(rank_in_cluster()) * S::here + warp_;
    else
      return slice_of<n>(warp_);
  }

  /// First of a thread's numbers of an image in the chip's order; the others are a window's threads
  /// apart.
  __device__ __forceinline__ std::int64_t first_number(std::int64_t image) const {
    return image * (n * n) + number_of_warp() * 32 + lane_;
  }
  static constexpr int from_number_to_number = 32 * S::count;

  /// Sum of v over the threads of a window that one block holds. @param scratch (warps), in shared
  /// memory; may be written again when every warp has waited for the window once more
  __device__ __forceinline__ float sum_over_window(float v, float* scratch) const {
    static_assert(S::blocks == 1);
    v = sum_over_warp(v);
    if (lane_ == 0) scratch[warp_] = v;
    wait_for_window();
    return sum_over_warp(lane_ < S::here ? scratch[window_ * S::here + lane_] : 0.F);
  }

  /// Pixels of the detector that a thread compares: i of half h is place (q, lane) of slice
  /// first_k + within (i % last).
  __device__ __forceinline__ int place_q(int half, int i) const {
    return warp_ % S::here / S::same_q * S::q_of_warp + half * (16 / S::last) + i / S::last;
  }
  __device__ __forceinline__ int row(int half, int i) const {
    return place_q(half, i) / S::across + S::rows * (first_k() + S::within * (i % S::last));
  }
  __device__ __forceinline__ int column(int half, int i) const {
    return place_q(half, i) % S::across + S::across * lane_;
  }

  __device__ __forceinline__ int detector_pixel(int half, int i) const {
    return row(half, i) * n + column(half, i);
  }
  /// From a thread's first pixel of a half to its i-th.
  __device__ static constexpr int pixel_offset(int i) {
    const int q = i / S::last;
    return (q / S::across + S::rows * S::within * (i % S::last)) * n + q % S::across;
  }
  /// trusted += those of a thread's 32 pixels, a bit each. @param valid (n, n), 0 = not trusted
  __device__ __forceinline__ void find_trusted(const float* valid, unsigned& trusted) const {
    for (int i = 0; i < 32; ++i)
      if (valid[detector_pixel(i / 16, i % 16)] != 0) trusted |= 1U << i;
  }

  /// The same as numbers of a transform, with their signs.
  __device__ __forceinline__ float row_number(int half, int i) const {
    constexpr int upper = S::last / 2;
    const int first = place_q(half, i) / S::across + S::rows * first_k();
    return static_cast<float>(first) +
           static_cast<float>(S::rows * S::within * (i % S::last) - (i % S::last < upper ? 0 : n));
  }
  __device__ __forceinline__ float column_number(int half, int i) const {
    return static_cast<float>(column(half, i) - (lane_ < 16 ? 0 : n));
  }

 protected:
  Chip& chip_;
  const int thread_ = static_cast<int>(threadIdx.x);
  const int warp_ = warp_of_block();
  const int lane_ = thread_ % 32;
  const int window_ = warp_ / S::here;

 private:
  /// First of the slices in which a warp's places lie when the last transform begins.
  __device__ __forceinline__ int first_k() const {
    if constexpr (S::blocks > 1)
      return static_cast<int>(rank_in_cluster()) * S::same_q + warp_ % S::same_q;
    else
      return 0;
  }
  __device__ __forceinline__ float2* place_here(int half, int i) const {
    return chip_.slices[window_ * S::here + (S::blocks > 1 ? first_k() : i % S::last)] + lane_ +
           S::pitch * place_q(half, i);
  }
  __device__ __forceinline__ std::uint32_t place_of_block(int half, int i) const {
    return address_of_block(place_here(half, 0), i % S::last) +
           i / S::last * S::pitch * static_cast<int>(sizeof(float2));
  }

  template <int sign>
  __device__ __forceinline__ void transform_within() const {
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
      const int q = 2 * warp_ + half;
      float2* const places = chip_.slices[0] + S::pitch * q + lane_;
      float2 x[S::within];
#pragma unroll
      for (int i = 0; i < S::within; ++i) x[i] = places[i * S::places];
      twisted_fft<S::within, sign>(
          x, sign < 0 ? chip_.twist_within[q / S::across] : chip_.twist_of_block);
#pragma unroll
      for (int i = 0; i < S::within; ++i) places[i * S::places] = x[i];
    }
  }
};

#endif

}  // namespace tessera::physics::hot_path
