#pragma once
/// The gradient of a chunk as in `hot_path_window.cu`, of a probe that is shifted to every place on
/// the chip (`docs/decisions/0018`): two more transforms a window, and no slots; also of probes
/// that places have for themselves.
///
/// One turn of a window, which waits for all its warps where (:) stands:
///
///     : counts of `now`, over the slices and back :
///     residual of `now`; object's gradient; conj(object) residual on its way to a spectrum
///     : spectrum times conj(ramp of `now`) to the probe's sum; probe's spectrum times ramp of
///     `next` : probe at `next`, kept for the next turn; times the object on its way to the
///     detector

#include <algorithm>

#include "shift_ramp_cuda.cuh"
#include "window_beams_cuda.cuh"
#include "window_detector_cuda.cuh"
#include "window_sums_cuda.cuh"

namespace tessera::physics::hot_path {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// @tparam own places have probes for themselves
template <int n, class Count, int shares, bool own, bool plain>
class ShiftedWindowGradient {
  using S = Slices<n>;
  using Chip = OnChip<n, Count, shares, true>;
  using Registers = float2[S::across][S::rows];
  static constexpr int window_threads = 32 * S::count;
  static constexpr int ramps = n / S::here;  ///< frequencies of an axis that a warp makes
  /// Loads on their way: fewer or more spill registers.
  static constexpr int ahead = n == 64 ? 8 : n == 256 ? 6 : shares > 0 ? 11 : 12;

 public:
  __device__ ShiftedWindowGradient(const ScanArrays& scan, const ChunkArrays& chunk,
                                   const ShiftsOnChip& shifts, const OwnProbes& own_probes,
                                   const CUtensorMap& object_boxes, Chip& chip)
      : scan_(scan),
        chunk_(chunk),
        shifts_(shifts),
        object_boxes_(object_boxes),
        chip_(chip),
        transform_{chip.slices[warp_], lane_, chip.twist_of_lane[lane_]},
        detector_(scan, chunk, chip),
        beams_(scan, chunk, own_probes, mode_, slice_, lane_) {
    chip.prepare(thread_);
    __syncthreads();
  }

  /// Places first ... last - 1 of the chunk, the same of all warps of a window.
  __device__ __forceinline__ void add(int first, int last) {
    if (first >= last) return;
    detector_.find_trusted();
    Place next = place_of(scan_, chunk_, first);
    Place now = next;
    int turn = 0;
    // The first turn, which only begins, stays in the loop: the code is large.
    asm volatile("" : "+r"(turn));
    for (;; ++turn) {
      const Place later = place_of(scan_, chunk_, min(first + turn + 1, last - 1));
      const bool begins = turn == 0;
      const bool ends = turn == last - first;
      if (!begins) detector_.compare(now, turn - 1);
      if (!ends) detector_.start_counts(next);
      const float shift = shift_of(next);
      if (!begins) add_gradients(now, first + turn - 1);
      make_ramps(shift, turn);
      if constexpr (own) beams_.start_exchange(now, next, begins, ends);
      exchange_spectra(turn, begins, ends);
      if constexpr (own) beams_.finish_exchange();
      if (ends) break;
      start_wave(next, first + turn);
      now = next;
      next = later;
    }
    flush_probe_sum();
    if (lane_ == 0) wait_until_added();
    detector_.finish_sums(chunk_.sums);
  }

 private:
  const ScanArrays& scan_;
  const ChunkArrays& chunk_;
  const ShiftsOnChip& shifts_;
  const CUtensorMap& object_boxes_;
  Chip& chip_;
  const int thread_ = static_cast<int>(threadIdx.x);
  const int warp_ = warp_of_block();
  const int lane_ = thread_ % 32;
  const int slice_ = slice_of<n>(warp_);
  const int window_ = warp_ / S::here;
  SliceTransform<n> transform_;
  const int mode_ = shares > 0 ? static_cast<int>(rank_in_cluster()) : 0;
  WindowDetector<n, Count, shares, true, plain> detector_;
  WindowBeams<n> beams_;

  /// Whether spectra of what waves say of the probe are of interest.
  __device__ __forceinline__ bool takes_spectra() const {
    if constexpr (own) return beams_.takes_spectra();
    return chunk_.slot_sums != nullptr;
  }
  /// Of a thread, in the images that are kept: of every place, or of one a window of the block.
  __device__ __forceinline__ std::int64_t first_kept(int place) const {
    const int of_block = static_cast<int>(blockIdx.x) / S::blocks * Chip::windows + window_;
    const std::int64_t image = shifts_.chi ? place * scan_.n_modes + mode_ : of_block;
    return image * (n * n) + detector_.number_of_warp() * 32 + lane_;
  }
  /// Of a thread, in an image in the chip's order.
  __device__ __forceinline__ int first_frequency() const {
    return mode_ * n * n + detector_.number_of_warp() * 32 + lane_;
  }
  __device__ __forceinline__ unsigned pixel_of(const Place& place, int i) const {
    const auto width = static_cast<unsigned>(chunk_.object_width);
    return place.object + slice_ * width + lane_ + i / S::across * S::count * width +
           32 * (i % S::across);
  }

  /// Object and probe of `now` as one stream of loads.
  __device__ __forceinline__ void add_gradients(const Place& now, int place) {
    const float2* const object = as_float2(chunk_.object);
    const float2* const probe = as_float2(shifts_.kept) + first_kept(place);
    float2* const chi = as_float2(shifts_.chi) + first_kept(place);
    const auto load = [&](int k) {
      return k % 2 == 0 ? load_here(object + pixel_of(now, k / 2))
                        : __ldcg(probe + k / 2 * window_threads);
    };
    Registers v;
    transform_.backward(v, chip_.twist_of_slice[slice_]);
    float2 loaded[ahead];
#pragma unroll
    for (int k = 0; k < ahead; ++k) loaded[k] = load(k);
    const auto take = [&](int k) {
      const float2 value = loaded[k % ahead];
      if (k + ahead < 64) loaded[k % ahead] = load(k + ahead);
      return value;
    };
    const ObjectRows<n> rows(chunk_, transform_.slice, now.object, slice_, lane_);
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      float2& residual = v[i % S::across][i / S::across];
      store_if(shifts_.chi != nullptr, chi + i * window_threads, residual);
      const float2 seen = take(2 * i);
      rows.stage(i % S::across, i / S::across, conj_times(take(2 * i + 1), residual));
      residual = conj_times(seen, residual);
    }
    if (chunk_.object_sum) rows.start_addition(object_boxes_);
    if (takes_spectra()) transform_.forward(v);
    if (lane_ == 0) wait_until_read();
    __syncwarp();
    if (takes_spectra()) transform_.store(v);
  }

  /// A warp's frequencies of both axes: lane = (axis, frequency).
  __device__ __forceinline__ float shift_of(const Place& place) const {
    const float* const shift =
        shifts_.shift + 2 * static_cast<std::int64_t>(own ? beams_.position_of(place) : place.slot);
    return __ldg(shift + (lane_ / ramps) % 2);
  }
  __device__ __forceinline__ void make_ramps(float shift, int turn) const {
    if (lane_ >= 2 * ramps) return;
    const int k = warp_ % S::here * ramps + lane_ % ramps;
    chip_.ramp[window_][turn & 1][lane_ / ramps][k] =
        own ? far_shift_ramp<n>(k, shift) : shift_ramp<n>(k, shift);
  }

  /// Numbers k ... k + 15 of a thread, whether the chip holds them or not.
  template <int k, class Back>
  __device__ __forceinline__ void add_to_probe_sum(float2* sum, const Back& back) const {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      if (k + i < Chip::held) {
        float2& held = chip_.probe_sum[k + i][thread_];
        held = held + back(i);
      } else {
        add_float2(sum + (k + i) * window_threads, back(i));
      }
    }
  }

  /// What the slices hold is the spectrum of conj(object) residual of the turn before; then that of
  /// the probe at the next place. The first turn has nothing to give, the last nothing to take.
  __device__ __forceinline__ void exchange_spectra(int turn, bool begins, bool ends) {
    const float2* const spectrum = as_float2(shifts_.spectrum) + first_frequency();
    float2* const sum = as_float2(chunk_.slot_sums) + first_frequency();
    const auto& ramp_now = chip_.ramp[window_][(turn + 1) & 1];
    const auto& ramp_next = chip_.ramp[window_][turn & 1];
    detector_.start_over_slices();
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
      float2 of_probe[16];
      const auto load_probe = [&] {
#pragma unroll
        for (int i = 0; i < 16; ++i)
          of_probe[i] = load_here(spectrum + (16 * half + i) * window_threads);
      };
      // Early, where addresses of other blocks leave the registers for it.
      if constexpr (!own && S::blocks == 1) load_probe();
      float2 x[16 / S::last][S::last];
      const auto ramp = [&](const float2(&axes)[2][n], int i) {
        return axes[0][detector_.row(half, i)] * axes[1][detector_.column(half, i)];
      };
      const auto add_to_probe = [&](const auto& back) {
        half == 0 ? add_to_probe_sum<0>(sum, back) : add_to_probe_sum<16>(sum, back);
      };
      float2 back[own ? 16 : 1] = {};
      if (takes_spectra() && !begins) {
        detector_.read_spectrum(half, x);
#pragma unroll
        for (int i = 0; i < 16; ++i) {
          float2& of_wave = x[i / S::last][i % S::last];
          of_wave = conj_times(ramp(ramp_now, i), of_wave);
          if constexpr (own) back[i] = of_wave;
        }
        if constexpr (!own) add_to_probe([&](int i) { return x[i / S::last][i % S::last]; });
      }
      if constexpr (own)
        beams_.exchange(
            spectrum, sum, 16 * half, back, [&](int i) { return detector_.row_number(half, i); },
            [&](int i) { return detector_.column_number(half, i); }, add_to_probe, of_probe);
      if (ends) continue;
      if constexpr (!own && S::blocks > 1) load_probe();
#pragma unroll
      for (int i = 0; i < 16; ++i) x[i / S::last][i % S::last] = of_probe[i] * ramp(ramp_next, i);
#pragma unroll
      for (int i = 0; i < 16 / S::last; ++i) short_fft<S::last, 1>(x[i]);
      detector_.write_slices(half, x);
    }
    detector_.finish_over_slices();
  }

  /// The probe at `next`, its power to the dose, the exit wave to the slice.
  __device__ __forceinline__ void start_wave(const Place& next, int place) {
    const float2* const object = as_float2(chunk_.object);
    float2* const kept = as_float2(shifts_.kept) + first_kept(place);
    Registers v;
    transform_.backward(v, chip_.twist_of_slice[slice_]);
    if constexpr (own) beams_.add_object_sums(next, pixel_of(next, 0), v);
    float2 loaded[ahead];
#pragma unroll
    for (int k = 0; k < ahead; ++k) loaded[k] = load_here(object + pixel_of(next, k));
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      float2& wave = v[i % S::across][i / S::across];
      __stcg(kept + i * window_threads, wave);
      // A branch parts the loads around it; but where registers are fewer, they spill without one.
      if constexpr (S::blocks == 1 && !own)
        add_if(chunk_.dose != nullptr, chunk_.dose + pixel_of(next, i), power(wave));
      else if (chunk_.dose)
        atomicAdd(chunk_.dose + pixel_of(next, i), power(wave));
      wave = wave * loaded[i % ahead];
      if (i + ahead < 32) loaded[i % ahead] = load_here(object + pixel_of(next, i + ahead));
    }
    transform_.forward(v);
    transform_.store(v);
  }

  __device__ __forceinline__ void flush_probe_sum() const {
    if (chunk_.slot_sums == nullptr) return;
    float2* const sum = as_float2(chunk_.slot_sums) + first_frequency();
#pragma unroll
    for (int k = 0; k < Chip::held; ++k)
      add_float2(sum + k * window_threads, chip_.probe_sum[k][thread_]);
  }
};

#endif

template <int n, class Count, int shares, bool own, bool plain>
__global__ void __launch_bounds__(threads, 1)
    shifted_window_gradient_kernel(const __grid_constant__ ScanArrays scan,
                                   const __grid_constant__ ChunkArrays chunk,
                                   const __grid_constant__ ShiftsOnChip shifts,
                                   const __grid_constant__ OwnProbes own_probes,
                                   const __grid_constant__ CUtensorMap object_boxes) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared[];
  using Chip = OnChip<n, Count, shares, true>;
  ShiftedWindowGradient<n, Count, shares, own, plain> gradient(
      scan, chunk, shifts, own_probes, object_boxes, *reinterpret_cast<Chip*>(shared));
  add_all<n, shares>(scan, chunk, gradient);
#endif
}

template <bool own, bool plain>
struct LaunchShifted {
  void* stream;
  const ScanArrays& scan;
  const ChunkArrays& chunk;
  const ShiftsOnChip& shifts;
  const OwnProbes& own_probes;

  template <int n, class Count, int shares>
  void operator()(WindowKind<n, Count, shares>) const {
    using Chip = OnChip<n, Count, shares, true>;
    static_assert(sizeof(Chip) <= shared_bytes);
    launch_clusters(shifted_window_gradient_kernel<n, Count, shares, own, plain>,
                    blocks_of_window<n, shares>(scan), chunk.count, threads,
                    sizeof(Chip) / sizeof(float2), stream, scan, chunk, shifts, own_probes,
                    object_boxes<n>(chunk));
  }
};

template <bool own>
void launch_shifted(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                    const ShiftsOnChip& shifts, const OwnProbes& own_probes) {
  if (chunk.count == 0) return;
  add_overlap(stream, scan, chunk);
  with_comparison(scan, [&](auto plain) {
    with_window_kind(scan, LaunchShifted<own, plain>{stream, scan, chunk, shifts, own_probes});
  });
  gather_background_slopes(stream, scan, chunk);
}

}  // namespace tessera::physics::hot_path
