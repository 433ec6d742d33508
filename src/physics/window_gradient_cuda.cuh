#pragma once
/// Gradients of a chunk's windows, each kept on the chip from its waves to both sums: windows of
/// 64, 128 and 256 pixels, Hopper and later. `docs/decisions/0008`.
///
/// A block stays on its multiprocessor and takes windows in turn. In one turn a warp goes with its
/// slice (`window_fft_cuda.cuh`) from the waves of one place to its gradients and on to the exit
/// wave of the next, and waits for the others of its window only before and behind the transform
/// over slices. Modes are taken by the blocks of a cluster, one each.

#include "window_probe_sum_cuda.cuh"
#include "window_projection_cuda.cuh"

namespace tessera::physics::hot_path {

/// Waves of which the gradients are taken, and whose sums.
enum class Gradient {
  of_residual,    ///< what the exit wave misses of the counts: object and probe
  of_projection,  ///< what a projection makes of the exit wave: object
  of_bounded,     ///< the same, of one whose patterns may keep a distance
  of_kept         ///< what is kept besides the exit wave: probe
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// @tparam plain amplitudes without a background are what is compared
template <int n, class Count, int shares, bool plain, Gradient gradient>
class WindowGradient {
  using S = Slices<n>;
  using Chip = OnChip<n, Count, shares>;
  /// Loads on their way: object, probe and next object of a thread's 32 pixels, one after another.
  /// More are slower, or spill registers.
  static constexpr int ahead = gradient != Gradient::of_residual ? 9
                               : n == 128 && shares > 0          ? 13
                                                                 : 20;
  static constexpr bool by_object = gradient != Gradient::of_kept;
  static constexpr bool by_probe =
      gradient == Gradient::of_residual || gradient == Gradient::of_kept;
  static constexpr bool projects =
      gradient == Gradient::of_projection || gradient == Gradient::of_bounded;
  static constexpr bool makes_waves = gradient == Gradient::of_residual || projects;
  /// Where no sums of the probe are added, additions to the dose are hidden behind the others.
  static constexpr bool adds_dose = by_object && !by_probe;
  using Detector = std::conditional_t<
      gradient == Gradient::of_residual, WindowDetector<n, Count, shares, false, plain>,
      std::conditional_t<projects,
                         WindowProjection<n, Count, plain, gradient == Gradient::of_bounded>,
                         KeptWindows<n, Count>>>;

 public:
  __device__ WindowGradient(const ScanArrays& scan, const ChunkArrays& chunk, const Boxes& boxes,
                            const Projection& projection, Chip& chip)
      : scan_(scan),
        chunk_(chunk),
        boxes_(boxes),
        chip_(chip),
        transform_{chip.slices[warp_], lane_, chip.twist_of_lane[lane_]},
        probe_sum_(scan, chunk, boxes.probe, chip, transform_.slice, slice_, mode_),
        detector_(scan, chunk, projection, chip) {
    chip.prepare(thread_);
    __syncthreads();
  }

  /// Places first ... last - 1 of the chunk, the same of all warps of a window.
  __device__ __forceinline__ void add(int first, int last) {
    if (first >= last) return;
    if constexpr (makes_waves) detector_.find_trusted();
    Place next = place_of(scan_, chunk_, first);
    Place now = next;
    int turn = 0;
    asm volatile("" : "+r"(turn));  // the first turn stays in the loop: the code is large
    for (;; ++turn) {
      const Place later = place_of(scan_, chunk_, min(first + turn + 1, last - 1));
      const bool begins = turn == 0;
      const bool ends = turn == last - first;
      if constexpr (!makes_waves) {
        if (!begins) detector_.recall(now);
        if (!ends) detector_.fetch(next);
      } else {
        if (!begins) detector_.compare(now, turn - 1);
        if (!ends) detector_.start_counts(next);
      }
      gradients_and_next_wave(now, next, begins, ends);
      if (ends) break;
      now = next;
      next = later;
    }
    if constexpr (by_probe) probe_sum_.flush(now.slot);
    if (lane_ == 0) wait_until_added();
    if constexpr (makes_waves) detector_.finish_sums(chunk_.sums);
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
  const int mode_ = shares > 0 ? static_cast<int>(rank_in_cluster()) : 0;
  SliceTransform<n> transform_;
  ProbeSum<n, Chip> probe_sum_;
  const int n_modes_ = shares > 0 ? scan_.n_modes : 1;
  Detector detector_;

  /// From the waves of `now` to their gradients, and on to the exit wave of `next`. The first turn
  /// has no waves, the last no next wave.
  __device__ __forceinline__ void gradients_and_next_wave(const Place& now, const Place& next,
                                                          bool begins, bool ends) {
    const auto width = static_cast<unsigned>(chunk_.object_width);
    const unsigned first = slice_ * width + lane_;
    const float2* const object = as_float2(chunk_.object);
    const float2* const probe = probe_of(now.slot);
    const auto load = [&](int number) {
      // What is subtracted from a pixel is read with it.
      const int k = by_object ? number : number / 2 + number % 2 * 32;
      const int b = k % 32 / S::across;
      const int a = k % S::across;
      if (k >= 32 && k < 64) return load_here(probe + b * S::count * n + 32 * a);
      const unsigned corner = k < 32 ? now.object : next.object;
      return load_here(object + (corner + first + b * S::count * width) + 32 * a);
    };
    float2 v[S::across][S::rows];
    if (begins) {
      if constexpr (makes_waves) {
#pragma unroll
        for (int i = 0; i < 32; ++i) v[i % S::across][i / S::across] = load(32 + i) * load(64 + i);
      } else {
        return;
      }
    } else {
      transform_.backward(v, chip_.twist_of_slice[slice_]);
      constexpr int begin = by_probe ? 0 : 32;
      constexpr int end = makes_waves ? 96 : 64;
      float2 loaded[ahead];
#pragma unroll
      for (int k = begin; k < begin + ahead; ++k) loaded[k % ahead] = load(k);
      const auto take = [&](int k) {
        const float2 value = loaded[k % ahead];
        if (k + ahead < end) loaded[k % ahead] = load(k + ahead);
        return value;
      };
      if constexpr (by_probe) add_probe_gradient(now, v, take);
      if constexpr (by_object) add_object_gradient(now, v, take);
      if constexpr (!makes_waves) return free_slice(now, next, ends);
      if (ends) return;
      if (next.slot != now.slot) change_probe(now.slot, next.slot, v);
#pragma unroll
      for (int i = 0; i < 32; ++i) {
        float2& wave = v[i % S::across][i / S::across];
        wave = wave * take(64 + i);
      }
    }
    transform_.forward(v);
    if (lane_ == 0) wait_until_read();
    __syncwarp();
    transform_.store(v);
  }

  /// Of what is staged there, for the waves that are recalled next.
  __device__ __forceinline__ void free_slice(const Place& now, const Place& next, bool ends) {
    if (!ends && next.slot != now.slot) probe_sum_.flush(now.slot);
    if (lane_ == 0) wait_until_read();
    __syncwarp();
  }

  __device__ __forceinline__ const float2* probe_of(int slot) const {
    return as_float2(chunk_.probes) + image_row(slot, n_modes_, mode_, n, slice_) + lane_;
  }

  /// slot_sums += conj(object) v
  template <class Take>
  __device__ __forceinline__ void add_probe_gradient(const Place& now,
                                                     const float2 (&v)[S::across][S::rows],
                                                     const Take& take) {
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const float2 seen = take(by_object ? i : 2 * i);
      float2 chi = v[i % S::across][i / S::across];
      if constexpr (!by_object) chi = chi - take(2 * i + 1) * seen;
      if (i < Chip::held)
        add_conj_times(probe_sum_.on_chip(i), seen, chi);
      else
        probe_sum_.stage(i, conj_times(seen, chi));
    }
    if (chunk_.slot_sums) probe_sum_.start_addition(now.slot);
  }

  /// object_sum += conj(probe) v, by way of the slice, which holds nothing now; v = probe. Its
  /// power to the dose.
  template <class Take>
  __device__ __forceinline__ void add_object_gradient(const Place& now,
                                                      float2 (&v)[S::across][S::rows],
                                                      const Take& take) {
    const ObjectRows<n> rows(chunk_, transform_.slice, now.object, slice_, lane_);
    // By the staged sum for the probe, at the latest.
    constexpr int in_use_from = S::across * (ProbeSum<n, Chip>::first_row / ObjectRows<n>::boxes);
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      if (by_probe && i == in_use_from) {
        if (lane_ == 0) wait_until_read();
        __syncwarp();
      }
      const int a = i % S::across;
      const int b = i / S::across;
      const float2 probe = take(32 + i);
      if constexpr (adds_dose) {
        const auto width = static_cast<unsigned>(chunk_.object_width);
        const unsigned pixel = now.object + slice_ * width + lane_ + b * S::count * width + 32 * a;
        add_if(chunk_.dose != nullptr, chunk_.dose + pixel, power(probe));
      }
      rows.stage(a, b, conj_times(probe, v[a][b]));
      v[a][b] = probe;
    }
    if (chunk_.object_sum) rows.start_addition(boxes_.object);
  }

  __device__ __forceinline__ void change_probe(int from, int to, float2 (&v)[S::across][S::rows]) {
    if constexpr (by_probe) probe_sum_.flush(from);
    const float2* const probe = probe_of(to);
#pragma unroll
    for (int i = 0; i < 32; ++i)
      v[i % S::across][i / S::across] =
          __ldg(probe + i / S::across * S::count * n + i % S::across * 32);
  }
};

#endif

template <int n, class Count, int shares, bool plain, Gradient gradient>
__global__ void __launch_bounds__(threads, 1)
    window_gradient_kernel(const __grid_constant__ ScanArrays scan,
                           const __grid_constant__ ChunkArrays chunk,
                           const __grid_constant__ Boxes boxes,
                           const __grid_constant__ Projection projection) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared[];
  using Chip = OnChip<n, Count, shares>;
  WindowGradient<n, Count, shares, plain, gradient> windows(scan, chunk, boxes, projection,
                                                            *reinterpret_cast<Chip*>(shared));
  add_all<n, shares>(scan, chunk, windows);
#endif
}

template <Gradient gradient, bool plain>
struct LaunchWindows {
  void* stream;
  const ScanArrays& scan;
  const ChunkArrays& chunk;
  const Projection& projection;

  template <int n, class Count, int shares>
  void operator()(WindowKind<n, Count, shares>) const {
    using Chip = OnChip<n, Count, shares>;
    static_assert(sizeof(Chip) <= shared_bytes);
    launch_clusters(window_gradient_kernel<n, Count, shares, plain, gradient>,
                    blocks_of_window<n, shares>(scan), chunk.count, threads,
                    sizeof(Chip) / sizeof(float2), stream, scan, chunk, boxes_of<n, Chip>(chunk),
                    projection);
  }
};

}  // namespace tessera::physics::hot_path
