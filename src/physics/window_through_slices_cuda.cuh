#pragma once
/// What kernels share that take windows on the chip through the slices of a thick sample
/// (`slices.hpp`). A warp's slices are others: those of its window (`window_fft_cuda.cuh`).

#include "window_over_slices_cuda.cuh"
#include "window_sums_cuda.cuh"

namespace tessera::physics::hot_path {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// @tparam Over OverSlices, or more of it
template <int n, class Over>
class ThroughSlices : public Over {
  using S = Slices<n>;

 protected:
  using Registers = float2[S::across][S::rows];  ///< pixel i: [i % across][i / across]

  /// @param over for what else Over takes
  template <class Chip, class... Others>
  __device__ ThroughSlices(const ChunkArrays& chunk, const SliceArrays& slices, Chip& chip,
                           const Others&... over)
      : Over(over..., chip),
        slices_(slices),
        width_(static_cast<unsigned>(chunk.object_width)),
        plane_(static_cast<unsigned>(chunk.object_width * chunk.object_height)),
        transform_{chip.slices[this->warp_], this->lane_, chip.twist_of_lane[this->lane_]} {
    chip.prepare(this->thread_);
    __syncthreads();
  }

  const SliceArrays& slices_;
  const unsigned width_;
  const unsigned plane_;  ///< pixels of a slice of the sample
  const int slice_ = slice_of<n>(this->warp_);
  SliceTransform<n> transform_;

  /// First pixel of a window in a slice of the sample.
  __device__ __forceinline__ unsigned corner_of(const Place& place, int slice) const {
    return place.object + static_cast<unsigned>(slice) * plane_;
  }
  /// From there to a thread's pixel i.
  __device__ __forceinline__ unsigned object_offset(int i) const {
    return slice_ * width_ + this->lane_ + i / S::across * S::count * width_ + 32 * (i % S::across);
  }
  /// A thread's first pixel of an image of the window's size. @param number of such images before
  __device__ __forceinline__ std::int64_t first_of_image(std::int64_t number) const {
    return number * (n * n) + slice_ * n + this->lane_;
  }
  /// From there to pixel i.
  __device__ static constexpr int image_offset(int i) { return S::in_image(i); }

  /// v = the waves times a slice of the sample.
  /// @param object the window's first pixel there
  /// @param probe null, or the thread's first pixel of what takes the place of the waves
  /// @param visit(i, wave) that falls on pixel i
  template <class Visit>
  __device__ __forceinline__ void enter(const float2* object, const float2* probe, Registers& v,
                                        const Visit& visit) {
    constexpr int ahead = 10;  // loads on their way; more spill registers
    const auto load = [&](int i) { return load_here(object + object_offset(i)); };
    if (probe) {
#pragma unroll
      for (int i = 0; i < 32; ++i) v[i % S::across][i / S::across] = __ldg(probe + image_offset(i));
    } else {
      transform_.backward(v, this->chip_.twist_of_slice[slice_]);
    }
    float2 loaded[ahead];
#pragma unroll
    for (int i = 0; i < ahead; ++i) loaded[i] = load(i);
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      float2& wave = v[i % S::across][i / S::across];
      visit(i, wave);
      wave = wave * loaded[i % ahead];
      if (i + ahead < 32) loaded[i % ahead] = load(i + ahead);
    }
  }

  /// On their way to a spectrum.
  __device__ __forceinline__ void to_slice(Registers& v) {
    transform_.forward(v);
    free_slice();
    transform_.store(v);
  }
  /// Of what is staged there.
  __device__ __forceinline__ void free_slice() const {
    if (this->lane_ == 0) wait_until_read();
    __syncwarp();
  }

  /// The free space between two slices of the sample. @tparam sign 1: there; -1: back
  template <int sign>
  __device__ __forceinline__ void cross_gap(int gap) const {
    const float2* const propagator =
        as_float2(slices_.propagators_on_chip) + this->first_number(gap);
    float2 turn[16];
    const auto load = [&](int half) {
#pragma unroll
      for (int i = 0; i < 16; ++i)
        turn[i] = load_here(propagator + (16 * half + i) * Over::from_number_to_number);
    };
    load(0);
    this->start_over_slices();
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
      float2 x[16 / S::last][S::last];
      this->read_spectrum(half, x);
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        float2& wave = x[i / S::last][i % S::last];
        wave = turned<sign>(wave, turn[i]);
      }
      if (half == 0) load(1);
#pragma unroll
      for (int i = 0; i < 16 / S::last; ++i) short_fft<S::last, 1>(x[i]);
      this->write_slices(half, x);
    }
    this->finish_over_slices();
  }
};

#endif

}  // namespace tessera::physics::hot_path
