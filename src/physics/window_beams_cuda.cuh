#pragma once
/// Probes that places have for themselves, whose windows are on the chip: how their planes are
/// mixed, and what they say of the parameters of a position. Formulas: `beam_slopes.hpp`.

#include "window_detector_cuda.cuh"
#include "window_sums_cuda.cuh"

namespace tessera::physics::hot_path {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// One thread's share.
template <int n>
class WindowBeams {
  using S = Slices<n>;
  using Registers = float2[S::across][S::rows];
  static constexpr int window_threads = 32 * S::count;
  static constexpr float area = n * n;  ///< spectra on the chip are smaller by it

  /// One turn's place, as far as the mixture goes.
  struct Beam {
    int place = 0;
    int position = 0;
    float amplitude = 0;  ///< 0: there is none in this turn
  };

 public:
  /// @param mode of the block; OPR modes belong to the first
  __device__ WindowBeams(const ScanArrays& scan, const ChunkArrays& chunk, const OwnProbes& own,
                         int mode, int slice, int lane)
      : scan_(scan), chunk_(chunk), own_(own), mode_(mode), slice_(slice), lane_(lane) {}

  /// Whether spectra of what waves say of the probe are of interest.
  __device__ bool takes_spectra() const {
    return chunk_.slot_sums || own_.of_spectrum || own_.of_opr;
  }
  __device__ __forceinline__ int position_of(const Place& place) const {
    return scan_.order[chunk_.begin + place.slot];
  }

  __device__ __forceinline__ void start_exchange(const Place& now, const Place& next, bool begins,
                                                 bool ends) {
    now_ = beam_of(now, !begins);
    next_ = beam_of(next, !ends);
    for (float& sum : total_) sum = 0;
  }

  /// Of 16 frequencies of the thread. @param k number of the first
  /// @param back what `now` says of the probe, moved back
  /// @param probe = that of `next`, before it is moved
  /// @param row, column(i / count) of frequencies, column with its sign
  template <class AddToProbe, class Row, class Column>
  __device__ __forceinline__ void exchange(const float2* spectrum, float2* sum, int k,
                                           const float2 (&back)[16], const Row& row,
                                           const Column& column, const AddToProbe& add_to_probe,
                                           float2 (&probe)[16]) {
    const int n_opr = mode_ == 0 ? own_.n_opr : 0;
#pragma unroll 1
    for (int plane = 0; plane <= n_opr; ++plane) {
      const std::int64_t first =
          plane == 0 ? 0 : static_cast<std::int64_t>(scan_.n_modes + plane - 1) * (n * n);
      const float2* const from = spectrum + first + k * window_threads;
      const float of_now = weight(now_, plane);
      const float of_next = weight(next_, plane);
      float by_y = 0;
      float by_x = 0;
      float along = 0;
      float power_of_plane = 0;
      float2 loaded[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) loaded[i] = load_here(from + i * window_threads);
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        const float2 d = loaded[i % 4];
        if (i + 4 < 16) loaded[i % 4] = load_here(from + (i + 4) * window_threads);
        probe[i] = plane == 0 ? d * next_.amplitude : probe[i] + d * of_next;
        power_of_plane += power(d);
        const float2 product = conj_times(d, back[i]);
        by_y = fmaf(row(i), product.y, by_y);
        by_x = fmaf(column(i), product.y, by_x);
        along += product.x;
      }
      total_[0] = fmaf(of_now, by_y, total_[0]);
      total_[1] = fmaf(of_now, by_x, total_[1]);
      total_[2] = fmaf(of_now, along, total_[2]);
      if (chunk_.slot_sums && now_.amplitude > 0) {
        if (plane == 0) {
          add_to_probe([&](int i) { return back[i] * of_now; });
        } else {
#pragma unroll
          for (int i = 0; i < 16; ++i)
            add_float2(sum + first + (k + i) * window_threads, back[i] * of_now);
        }
      }
      if (plane > 0 && own_.of_opr) add_opr_sums(plane - 1, along, power_of_plane);
    }
#pragma unroll
    for (int i = 0; i < 16; ++i) total_[3] += power(probe[i]);
  }

  __device__ __forceinline__ void finish_exchange() const {
    if (!own_.of_spectrum) return;
    constexpr float step = -6.2831853071795865F / n;  // of wave numbers
    const float scaled[4] = {step * area * total_[0], step * area * total_[1], area * total_[2],
                             area * area * total_[3]};
    const float sum = sums_over_warp(scaled);
    const int place = lane_ == 3 ? next_.place : now_.place;
    if (lane_ < 4) atomicAdd(own_.of_spectrum + 4 * place + lane_, static_cast<double>(sum));
  }

  /// What the object does to the probe of `place`.
  __device__ __forceinline__ void add_object_sums(const Place& place, unsigned first_pixel,
                                                  const Registers& probe) const {
    const float2* const object = as_float2(chunk_.object) + first_pixel;
    if (own_.of_object) add_in_beam(object, probe, own_.of_object + 2 * place.slot);
    if (own_.moves) add_moves(object, probe, own_.moves + 2 * place.slot);
  }

 private:
  const ScanArrays& scan_;
  const ChunkArrays& chunk_;
  const OwnProbes& own_;
  const int mode_;
  const int slice_;
  const int lane_;
  Beam now_;
  Beam next_;
  float total_[4] = {};  ///< SpectrumSlopes of `now`, its power of `next`

  __device__ __forceinline__ Beam beam_of(const Place& place, bool is_there) const {
    const int position = position_of(place);
    const float intensity = scan_.intensity ? __ldg(scan_.intensity + position) : 1.F;
    return {place.slot, position, is_there ? sqrtf(intensity) : 0.F};
  }
  __device__ __forceinline__ float weight(const Beam& beam, int plane) const {
    if (plane == 0) return beam.amplitude;
    return beam.amplitude * __ldg(own_.opr_weight + beam.position * own_.n_opr + plane - 1);
  }
  /// f(a, b, pixel of the object) of every pixel of the thread.
  template <class F>
  __device__ __forceinline__ void for_each_pixel(const float2* object, const F& f) const {
    const auto width = static_cast<std::int64_t>(chunk_.object_width);
#pragma unroll
    for (int i = 0; i < 32; ++i)
      f(i % S::across, i / S::across,
        object + i / S::across * S::count * width + 32 * (i % S::across));
  }
  /// += ObjectInBeam
  __device__ __forceinline__ void add_in_beam(const float2* object, const Registers& probe,
                                              double* sums) const {
    float sum[4] = {};
    for_each_pixel(object, [&](int a, int b, const float2* at) {
      const float probe_power = power(probe[a][b]);
      sum[0] = fmaf(probe_power, power(__ldg(at)), sum[0]);
      sum[1] += probe_power;
    });
    const float total = sums_over_warp(sum);
    if (lane_ < 2) atomicAdd(sums + lane_, static_cast<double>(total));
  }
  /// += ObjectMoves
  __device__ __forceinline__ void add_moves(const float2* object, const Registers& probe,
                                            double* sums) const {
    const auto width = static_cast<std::int64_t>(chunk_.object_width);
    float sum[4] = {};
    for_each_pixel(object, [&](int a, int b, const float2* at) {
      const bool inside = !(b == 0 && slice_ == 0) &&
                          !(b == S::rows - 1 && slice_ == S::count - 1) &&
                          !(a == 0 && lane_ == 0) && !(a == S::across - 1 && lane_ == 31);
      if (!inside) return;
      const float probe_power = 0.25F * power(probe[a][b]);
      sum[0] = fmaf(probe_power, power(__ldg(at + width) - __ldg(at - width)), sum[0]);
      sum[1] = fmaf(probe_power, power(__ldg(at + 1) - __ldg(at - 1)), sum[1]);
    });
    const float total = sums_over_warp(sum);
    if (lane_ < 2) atomicAdd(sums + lane_, static_cast<double>(total));
  }
  __device__ __forceinline__ void add_opr_sums(int opr, float slope, float power) const {
    const float both[4] = {area * now_.amplitude * slope,
                           area * area * next_.amplitude * next_.amplitude * power, 0, 0};
    const float sum = sums_over_warp(both);
    const int place = lane_ == 0 ? now_.place : next_.place;
    if (lane_ < 2)
      atomicAdd(own_.of_opr + 2 * (place * own_.n_opr + opr) + lane_, static_cast<double>(sum));
  }
};

#endif

}  // namespace tessera::physics::hot_path
