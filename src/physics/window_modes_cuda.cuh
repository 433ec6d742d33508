#pragma once
/// Gradients of windows of many modes, of which every block of a cluster has several in turn:
/// smaller clusters fill a GPU better. `docs/decisions/0008`.
///
/// The slices hold one mode at a time. A block goes, at each place, with its modes
///
///     upwards    from the wave to the spectrum, which is put aside, but for the last one's;
///     together   through the comparison of all modes' intensities;
///     downwards  from the spectrum, the last one's first, to the residual and the gradients, and
///                with the first one on to its wave at the next place.

#include "window_aside_cuda.cuh"
#include "window_probe_sum_cuda.cuh"

namespace tessera::physics::hot_path {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

template <int shares, bool plain>
class WindowModes {
  static constexpr int n = 128;
  using S = Slices<n>;
  using Chip = OnChip<n, float, shares, false, true>;
  using Registers = float2[S::across][S::rows];
  static constexpr int ahead = 18;  ///< loads on their way, as of WindowGradient
  static constexpr int group = 8;   ///< pixels of a wave that are loaded together

 public:
  __device__ WindowModes(const ScanArrays& scan, const ChunkArrays& chunk, const Boxes& boxes,
                         float4* aside, Chip& chip)
      : scan_(scan),
        chunk_(chunk),
        boxes_(boxes),
        chip_(chip),
        transform_{chip.slices[warp_], lane_, chip.twist_of_lane[lane_]},
        probe_sum_(scan, chunk, boxes.probe, chip, transform_.slice, slice_, first_mode_),
        detector_(scan, chunk, aside, n_modes_ - 1, chip) {
    chip.prepare(thread_);
    __syncthreads();
  }

  /// Places first, first + step ... below `end`: blocks that work side by side are at the same
  /// slots, and these in the cache.
  __device__ __forceinline__ void add(int first, int end, int step) {
    if (first >= end) return;
    detector_.find_trusted();
    Place now = place_of(scan_, chunk_, first);
    detector_.start_counts(now);
    start_first(now);
    for (int j = first; j < end; j += step) {
      const bool ends = j + step >= end;
      const Place next = place_of(scan_, chunk_, ends ? j : j + step);
#pragma unroll 1
      for (int m = 1; m < n_modes_; ++m) start_mode(now, m);
      detector_.compare(now);
      if (!ends) detector_.start_counts(next);
#pragma unroll 1
      for (int m = n_modes_ - 1; m >= 0; --m) {
        if (m < n_modes_ - 1) detector_.recall(m);
        probe_sum_.turn_to(first_mode_ + m);
        add_gradients(now, next, first_mode_ + m, m == 0 && !ends);
      }
      now = next;
    }
    if (lane_ == 0) wait_until_added();
    detector_.finish_sums(chunk_.sums);
  }

 private:
  const ScanArrays& scan_;
  const ChunkArrays& chunk_;
  const Boxes& boxes_;
  Chip& chip_;
  const int thread_ = static_cast<int>(threadIdx.x);
  const int warp_ = warp_of_block();
  const int lane_ = thread_ % 32;
  const int slice_ = slice_of<n>(warp_);
  const int n_modes_ = scan_.n_modes / blocks_of_cluster();  ///< of the block
  const int first_mode_ = n_modes_ * static_cast<int>(rank_in_cluster());
  SliceTransform<n> transform_;
  ProbeSum<n, Chip> probe_sum_;
  AsideDetector<shares, plain> detector_;

  /// Pixel i of a thread's 32 is x = lane + 32 (i % across) of row i / across.
  __device__ __forceinline__ const float2* probe_of(int slot, int mode) const {
    return as_float2(chunk_.probes) + image_row(slot, scan_.n_modes, mode, n, slice_) + lane_;
  }
  __device__ __forceinline__ const float2* object_of(const Place& place, int i) const {
    const auto width = static_cast<unsigned>(chunk_.object_width);
    const unsigned first = slice_ * width + lane_;
    return as_float2(chunk_.object) + (place.object + first + i / S::across * S::count * width) +
           i % S::across * 32;
  }

  /// Pixels of a wave on their way.
  struct Loads {
    float2 probe[group];
    float2 object[group];
  };
  __device__ __forceinline__ void load(Loads& loads, const float2* probe, const Place& place,
                                       int number) const {
#pragma unroll
    for (int i = 0; i < group; ++i) {
      loads.probe[i] = load_here(probe + S::in_image(group * number + i));
      loads.object[i] = load_here(object_of(place, group * number + i));
    }
  }
  __device__ static __forceinline__ void multiply(Registers& v, const Loads& loads, int number) {
#pragma unroll
    for (int k = 0; k < group; ++k) {
      const int i = group * number + k;
      v[i % S::across][i / S::across] = loads.probe[k] * loads.object[k];
    }
  }

  /// The first mode's exit wave to its slice.
  __device__ __forceinline__ void start_first(const Place& place) {
    Registers v;
    Loads loads;
#pragma unroll
    for (int number = 0; number < 32 / group; ++number) {
      load(loads, probe_of(place.slot, first_mode_), place, number);
      multiply(v, loads, number);
    }
    transform_.forward(v);
    transform_.store(v);
  }

  /// That of the block's mode m, while the spectrum of the one before is put aside.
  __device__ __forceinline__ void start_mode(const Place& place, int m) {
    const float2* const probe = probe_of(place.slot, first_mode_ + m);
    Registers v;
    Loads loads;
    detector_.put_aside(m - 1, [&](int number) {
      if (number > 0) multiply(v, loads, number - 1);
      load(loads, probe, place, number);
    });
    multiply(v, loads, 2);
    load(loads, probe, place, 3);
    multiply(v, loads, 3);
    transform_.forward(v);
    transform_.store(v);
  }

  /// From the waves of `now` to their gradients, and on to the exit wave of `next` where `goes_on`.
  __device__ __forceinline__ void add_gradients(const Place& now, const Place& next, int mode,
                                                bool goes_on) {
    const float2* const probe = probe_of(now.slot, mode);
    const auto load = [&](int k) {
      if (k >= 64) return load_if(goes_on, object_of(next, k - 64));
      return load_here(k < 32 ? object_of(now, k) : probe + S::in_image(k - 32));
    };
    Registers v;
    transform_.backward(v, chip_.twist_of_slice[slice_]);
    float2 loaded[ahead];
#pragma unroll
    for (int k = 0; k < ahead; ++k) loaded[k] = load(k);
    const auto take = [&](int k) {
      const float2 value = loaded[k % ahead];
      if (k + ahead < 96) loaded[k % ahead] = load(k + ahead);
      return value;
    };
    add_probe_gradient(now, v, take);
    add_object_gradient(now, v, take);
    if (!goes_on) return;
    if (next.slot != now.slot) {
      const float2* const next_probe = probe_of(next.slot, mode);
#pragma unroll
      for (int i = 0; i < 32; ++i)
        v[i % S::across][i / S::across] = __ldg(next_probe + S::in_image(i));
    }
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      float2& wave = v[i % S::across][i / S::across];
      wave = wave * take(64 + i);
    }
    transform_.forward(v);
    if (lane_ == 0) wait_until_read();
    __syncwarp();
    transform_.store(v);
  }

  /// slot_sums += conj(object) v
  template <class Take>
  __device__ __forceinline__ void add_probe_gradient(const Place& now, const Registers& v,
                                                     const Take& take) {
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      probe_sum_.stage(i, conj_times(take(i), v[i % S::across][i / S::across]));
      if (i % 16 == 15 && chunk_.slot_sums) probe_sum_.start_half(now.slot, i / 16);
    }
  }

  /// object_sum += conj(probe) v, staged where the probe's sum has been read; v = probe.
  template <class Take>
  __device__ __forceinline__ void add_object_gradient(const Place& now, Registers& v,
                                                      const Take& take) {
    const ObjectRows<n> rows(chunk_, transform_.slice, now.object, slice_, lane_);
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      if (i % 16 == 0) {
        if (lane_ == 0) i == 0 ? wait_until_earlier_read() : wait_until_read();
        __syncwarp();
      }
      const int a = i % S::across;
      const int b = i / S::across;
      const float2 probe = take(32 + i);
      rows.stage(a, b, conj_times(probe, v[a][b]));
      v[a][b] = probe;
    }
    if (chunk_.object_sum) rows.start_addition(boxes_.object);
  }
};

#endif

}  // namespace tessera::physics::hot_path
