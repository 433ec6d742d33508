#pragma once
/// Waves that are kept of windows on the chip: as spectra / n^2, in the order in which threads meet
/// frequencies between the two transforms over slices. So the modulus constraint needs no transform
/// of what was kept, and a step of a projection method none but those of a gradient.

#include "window_detector_cuda.cuh"

namespace tessera::physics::hot_path {

/// Where it stands in the program, long before it is needed.
__device__ __forceinline__ float2 load_kept(const float2* p) {
  float2 v;
  asm volatile("ld.global.cs.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(p));
  return v;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// Brings what is kept of a position near.
template <int n>
__device__ __forceinline__ void fetch_kept(const float2* kept, int position) {
  fetch_once(kept + std::int64_t{position} * (n * n), n * n * static_cast<int>(sizeof(float2)));
}

/// What a projection does to a window on the detector: `Projection`, and `LinearMap` of
/// projection_pass.hpp.
/// @tparam bounded patterns may keep a distance
template <int n, class Count, bool plain, bool bounded>
class WindowProjection : public WindowDetector<n, Count, 0, false, plain> {
  using S = Slices<n>;
  using Chip = OnChip<n, Count, 0>;
  using Base = WindowDetector<n, Count, 0, false, plain>;
  using Base::chip_;
  using typename Base::Sums;
  static constexpr float n_pixels = n * n;
  static constexpr int step = Base::from_number_to_number;

 public:
  __device__ WindowProjection(const ScanArrays& scan, const ChunkArrays& chunk,
                              const Projection& projection, Chip& chip)
      : Base(scan, chunk, chip), projection_(projection) {}

  /// Counts, and what is kept, of a place that comes next.
  __device__ __forceinline__ void start_counts(const Place& place) {
    Base::start_counts(place);
    if (this->leads_window()) fetch_kept<n>(as_float2(projection_.kept), place.position);
  }

  /// Over the slices: sums of P_O's waves, the step of what is kept, and back.
  /// @param number of the window, which counts from 0
  __device__ __forceinline__ void compare(const Place& place, int number) {
    this->start_over_slices();
    this->wait_for_counts(number);
    if constexpr (bounded) {
      // The probe's sums, for which there is room, are of no interest here.
      const float distance =
          this->sum_over_window(visit<Part::distance>(place, 0), &chip_.probe_sum[0][0].x);
      visit<Part::step>(place, projection_.of_residual * share_of(distance));
    } else {
      visit<Part::all>(place, projection_.of_residual);
    }
    this->finish_over_slices();
  }

 private:
  const Projection& projection_;

  template <bool by_likelihood>
  __device__ __forceinline__ float factor_of(const BackgroundOfPixels& over, int half, int i,
                                             float count, float intensity, Sums& sum) const {
    const unsigned trusted = this->trusted_ >> (16 * half + i) & 1U;
    if constexpr (!plain) {
      return this->template compare_over<by_likelihood, !by_likelihood>(over, i, trusted, count,
                                                                        intensity, sum);
    } else {
      const unsigned keep = count < this->scan_.saturation ? 0U - trusted : 0U;
      Comparison<n> compared(masked(count, keep), masked(intensity, keep), sum);
      compared.divide_by_no_less(this->scan_.dark_amplitude);
      return masked(compared.factor(), keep);
    }
  }
  __device__ __forceinline__ BackgroundOfPixels background_of(int half, bool with_slopes) const {
    if constexpr (plain) return {};
    BackgroundOfPixels over = Base::background_of(half, 0);
    if (!with_slopes) over.slopes = nullptr;
    return over;
  }

  /// Of the residual: what leaves a pattern at the bound.
  __device__ __forceinline__ float share_of(float distance) const {
    const auto bound = static_cast<float>(projection_.bound);
    return distance <= bound ? 0.F : 1 - sqrtf(bound / distance);
  }

  /// What is done to the pixels at once: a share of the residual is known when the distance of the
  /// whole pattern is.
  enum class Part { distance, step, all };

  /// @param of_residual what the step adds of it
  /// @return this thread's part of the squared distance of what is reflected to what counts allow.
  /// P_O's waves stay in the slices then, by frequencies.
  template <Part part>
  __device__ __forceinline__ float visit(const Place& place, float of_residual) {
    const auto& p = projection_;
    const std::int64_t first = this->first_number(place.position);
    float2* const kept = as_float2(p.kept) + first;
    float2* const overlapping = as_float2(p.overlapping) + first;
    Sums of_overlap = {};
    Sums unused = {};
    float distance = 0;
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
      float2 k[16];
#pragma unroll
      for (int i = 0; i < 16; ++i) k[i] = load_kept(kept + (16 * half + i) * step);
      float2 x[16 / S::last][S::last];
      float count[16];
      this->read_slices(half, x);
      this->take_counts(place, half, count);
      if constexpr (part != Part::step)
#pragma unroll
        for (int i = 0; i < 16 / S::last; ++i)
          twisted_fft<S::last, -1>(x[i], this->last_twist(half, i * S::last));
      const BackgroundOfPixels unfitted = background_of(half, false);
      const BackgroundOfPixels fitted = background_of(half, part != Part::distance);
      const auto visit_pixels = [&](auto likelihood) {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
          float2& wave = x[i / S::last][i % S::last];
          const float2 reflected = wave * p.of_overlap + k[i] * (p.of_kept * n_pixels);
          if constexpr (part != Part::step)
            factor_of<likelihood>(unfitted, half, i, count[i], power(wave), of_overlap);
          const float intensity = power(reflected);
          const float factor = factor_of<likelihood>(fitted, half, i, count[i], intensity, unused);
          distance = fmaf(factor * factor, intensity, distance);
          if constexpr (part == Part::distance) continue;
          const float2 base = (p.from_overlap ? wave : reflected) * (1 / n_pixels);
          wave = base + reflected * (factor * of_residual);
          const int number = (16 * half + i) * step;
          if (p.overlapping) __stcs(overlapping + number, wave);
          if (p.kept != p.overlapping)
            __stcs(kept + number, wave * p.keeps_new + base * p.keeps_base);
        }
      };
      if constexpr (plain)
        visit_pixels(std::false_type());
      else
        this->with_noise_kind(visit_pixels);
      if constexpr (part != Part::distance)
#pragma unroll
        for (int i = 0; i < 16 / S::last; ++i) short_fft<S::last, 1>(x[i]);
      this->write_slices(half, x);
    }
    if constexpr (part != Part::step) this->add_to_sums(of_overlap);
    return distance * n_pixels;  // the factor is 1 / n^2 of what residuals are of waves
  }
};

/// Waves that are kept, on their way back from the detector.
template <int n, class Count>
class KeptWindows : public OverSlices<n, OnChip<n, Count, 0>> {
  using S = Slices<n>;
  using Chip = OnChip<n, Count, 0>;
  using Base = OverSlices<n, Chip>;

 public:
  __device__ KeptWindows(const ScanArrays&, const ChunkArrays&, const Projection& projection,
                         Chip& chip)
      : Base(chip), kept_(as_float2(projection.overlapping)) {}

  __device__ __forceinline__ void fetch(const Place& place) const {
    if (this->leads_window()) fetch_kept<n>(kept_, place.position);
  }

  /// To the slices, which every warp has freed.
  __device__ __forceinline__ void recall(const Place& place) const {
    const float2* const kept = kept_ + this->first_number(place.position);
    this->wait_for_window();
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
      float2 x[16 / S::last][S::last];
#pragma unroll
      for (int i = 0; i < 16; ++i)
        x[i / S::last][i % S::last] =
            load_kept(kept + (16 * half + i) * Base::from_number_to_number);
#pragma unroll
      for (int i = 0; i < 16 / S::last; ++i) short_fft<S::last, 1>(x[i]);
      this->write_slices(half, x);
    }
    this->finish_over_slices();
  }

 private:
  const float2* kept_;
};

#endif

}  // namespace tessera::physics::hot_path
