/// The gradient of a chunk in one kernel that keeps every window on the chip from its exit wave to
/// both gradients: windows of 64 and 128 pixels, Hopper and later. `docs/decisions/0008`.
///
/// A block stays on its multiprocessor and takes windows in turn. In one turn a warp goes with its
/// slice (`window_fft_cuda.cuh`) from the residual of one place to its gradients and on to the exit
/// wave of the next, and waits for the others of its window only before and behind the transform
/// over slices. Modes are taken by the blocks of a cluster, one each.

#include <algorithm>

#include "window_detector_cuda.cuh"

namespace tessera::physics::hot_path {
namespace {

/// Where it stands in the program: the compiler shall not gather loads, registers are few.
__device__ __forceinline__ float2 load_here(const float2* p) {
  float2 v;
  asm volatile("ld.global.nc.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(p));
  return v;
}

/// sum += conj(a) b
__device__ __forceinline__ void add_conj_times(float2& sum, float2 a, float2 b) {
  sum = make_float2(fmaf(a.x, b.x, fmaf(a.y, b.y, sum.x)), fmaf(a.x, b.y, fmaf(-a.y, b.x, sum.y)));
}

/// What is added to, as boxes of rows that a slice has: a row of `object` is `slices` rows of the
/// object, so that rows of a slice lie below each other; `probe` likewise.
struct Boxes {
  CUtensorMap object;
  CUtensorMap probe;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

template <int n, class Count, int shares>
class WindowGradient {
  using S = Slices<n>;
  using Chip = OnChip<n, Count, shares>;
  /// Loads on their way: object, probe and next object of a thread's 32 pixels, one after another.
  /// More spill registers.
  static constexpr int ahead = 10;

 public:
  __device__ WindowGradient(const ScanArrays& scan, const ChunkArrays& chunk, const Boxes& boxes,
                            Chip& chip)
      : scan_(scan),
        chunk_(chunk),
        boxes_(boxes),
        chip_(chip),
        transform_{chip.slices[warp_], lane_, chip.twist_of_lane[lane_]},
        detector_(scan, chip) {
    for (int i = thread_; i < Chip::twists; i += threads) {
      constexpr int half = S::count / 2;
      (&chip.twist_over_slices[0][0])[i] =
          twist_of(S::count, static_cast<float>(i / half) / n, i % half);
      constexpr int half_rows = S::rows / 2;
      (&chip.twist_of_slice[0][0])[i] =
          twist_of(S::rows, static_cast<float>(i / half_rows) / n, i % half_rows);
    }
    if (thread_ < 16 * S::across)
      (&chip.twist_of_lane[0][0])[thread_] = twist_of(
          S::across, static_cast<float>(thread_ / (S::across / 2)) / n, thread_ % (S::across / 2));
    for (int i = 0; i < Chip::held; ++i) chip.probe_sum[i][thread_] = make_float2(0, 0);
    for (int i = lane_; i < S::places; i += 32) transform_.slice[i] = make_float2(0, 0);
    __syncthreads();
  }

  /// Places first ... last - 1 of the chunk, the same of all warps of a window.
  __device__ __forceinline__ void add(int first, int last) {
    if (first >= last) return;
    detector_.find_trusted();
    Place next = place_of(scan_, chunk_, first);
    Place now = next;
    int turn = 0;
    asm volatile("" : "+r"(turn));  // the first turn stays in the loop: the code is large
    for (;; ++turn) {
      const Place later = place_of(scan_, chunk_, min(first + turn + 1, last - 1));
      if constexpr (shares > 0) {
        if (turn > 0) detector_.compare_modes(now);
      } else {
        if (turn > 0) detector_.compare(turn - 1);
        if (turn < last - first) detector_.start_counts(next);
      }
      gradients_and_next_wave(now, next);
      if (turn == last - first) break;
      now = next;
      next = later;
    }
    flush_probe_sum(now.slot);
    if (lane_ == 0) wait_until_added();
    detector_.finish_sums(chunk_.sums);
  }

 private:
  const ScanArrays& scan_;
  const ChunkArrays& chunk_;
  const Boxes& boxes_;
  Chip& chip_;
  const int thread_ = static_cast<int>(threadIdx.x);
  const int warp_ = __shfl_sync(~0U, thread_ / 32, 0);
  const int lane_ = thread_ % 32;
  const int slice_ = warp_ % S::count;
  SliceTransform<n> transform_;
  const int mode_ = shares > 0 ? static_cast<int>(rank_in_cluster()) : 0;
  const int n_modes_ = shares > 0 ? scan_.n_modes : 1;
  WindowDetector<n, Count, shares> detector_;

  /// From the residual of `now` to its gradients, and on to the exit wave of `next`.
  __device__ __forceinline__ void gradients_and_next_wave(const Place& now, const Place& next) {
    const auto width = static_cast<unsigned>(chunk_.object_width);
    const unsigned first = slice_ * width + lane_;
    const float2* const object = as_float2(chunk_.object);
    const float2* const probe = probe_of(now.slot);
    const auto load = [&](int k) {
      const int b = k % 32 / S::across;
      const int a = k % S::across;
      if (k >= 32 && k < 64) return load_here(probe + b * S::count * n + 32 * a);
      const unsigned corner = k < 32 ? now.object : next.object;
      return load_here(object + (corner + first + b * S::count * width) + 32 * a);
    };
    float2 v[S::across][S::rows];
    transform_.backward(v, chip_.twist_of_slice[slice_]);
    float2 loaded[ahead];
#pragma unroll
    for (int k = 0; k < ahead; ++k) loaded[k] = load(k);
    const auto take = [&](int k) {
      const float2 value = loaded[k % ahead];
      if (k + ahead < 96) loaded[k % ahead] = load(k + ahead);
      return value;
    };
    float2* const slice = transform_.slice;
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const float2 seen = take(i);
      const float2 chi = v[i % S::across][i / S::across];
      if (i < Chip::held)
        add_conj_times(chip_.probe_sum[i][thread_], seen, chi);
      else
        slice[i / S::across * n + 32 * (i % S::across) + lane_] = conj_times(seen, chi);
    }
    if (chunk_.slot_sums) start_probe_sum(now.slot);
    add_object_gradient(now, v, take);
    if (next.slot != now.slot) change_probe(now.slot, next.slot, v);
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

  __device__ __forceinline__ const float2* probe_of(int slot) const {
    return as_float2(chunk_.probes) + image_row(slot, n_modes_, mode_, n, slice_) + lane_;
  }

  __device__ __forceinline__ float2* probe_sum_of(int slot) const {
    return as_float2(chunk_.slot_sums) + image_row(slot, n_modes_, mode_, n, slice_);
  }

  static constexpr int first_row = Chip::held / S::across;  ///< of those that go to memory

  /// What the chip does not hold, staged in the slice.
  __device__ __forceinline__ void start_probe_sum(int slot) {
    constexpr int begin = 32 * (Chip::held % S::across);  // of the first row
    constexpr int first_whole = first_row + (begin > 0 ? 1 : 0);
    show_to_copy_engine();
    __syncwarp();
    if (lane_ > 0) return;
    if (begin > 0)
      start_addition(probe_sum_of(slot) + first_row * S::count * n + begin,
                     transform_.slice + first_row * n + begin, n - begin);
    if (first_whole < S::rows)
      start_addition(boxes_.probe, (slot * n_modes_ + mode_) * S::rows + first_whole, slice_ * n,
                     transform_.slice + first_whole * n);
    commit_additions();
  }

  /// object_sum += conj(probe) v, by way of the slice, which holds nothing now; v = probe. Rows
  /// that begin at an odd pixel are staged one place on, since boxes begin at even ones, and their
  /// last pixel apart.
  template <class Take>
  __device__ __forceinline__ void add_object_gradient(const Place& now,
                                                      float2 (&v)[S::across][S::rows],
                                                      const Take& take) {
    float2* const slice = transform_.slice;
    const auto width = static_cast<unsigned>(chunk_.object_width);
    const unsigned first = now.object + slice_ * width;
    const unsigned row = first / (S::count * width);
    const unsigned column = first - row * S::count * width;
    const int odd = static_cast<int>(column % 2);
    const bool is_apart = odd && lane_ == 31;
    constexpr int in_use_from = S::across * first_row;  // by the staged sum for the probe
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      if (i == in_use_from) {
        if (lane_ == 0) wait_until_read();
        __syncwarp();
      }
      const int a = i % S::across;
      const int b = i / S::across;
      const float2 probe = take(32 + i);
      const float2 gradient = conj_times(probe, v[a][b]);
      if (a < S::across - 1)
        slice[b * n + 32 * a + lane_ + odd] = gradient;
      else
        slice[is_apart ? 1024 + b : b * n + 32 * a + lane_ + odd] = gradient;
      v[a][b] = probe;
    }
    if (chunk_.object_sum == nullptr) return;
    if (odd && lane_ < S::rows) slice[lane_ * n] = make_float2(0, 0);
    show_to_copy_engine();
    __syncwarp();
    if (lane_ == 0) {
      start_addition(boxes_.object, static_cast<int>(row), static_cast<int>(column) - odd, slice);
      commit_additions();
    }
    if (odd && lane_ < S::rows)
      add_float2(as_float2(chunk_.object_sum) + first + lane_ * S::count * width + (n - 1),
                 slice[1024 + lane_]);
  }

  __device__ __forceinline__ void change_probe(int from, int to, float2 (&v)[S::across][S::rows]) {
    flush_probe_sum(from);
    const float2* const probe = probe_of(to);
#pragma unroll
    for (int i = 0; i < 32; ++i)
      v[i % S::across][i / S::across] =
          __ldg(probe + i / S::across * S::count * n + i % S::across * 32);
  }

  __device__ __forceinline__ void flush_probe_sum(int slot) {
    if (chunk_.slot_sums == nullptr) return;
    float2* const sum = probe_sum_of(slot) + lane_;
#pragma unroll
    for (int i = 0; i < Chip::held; ++i) {
      add_float2(sum + i / S::across * S::count * n + i % S::across * 32,
                 chip_.probe_sum[i][thread_]);
      chip_.probe_sum[i][thread_] = make_float2(0, 0);
    }
  }
};

#endif

template <int n, class Count, int shares>
__global__ void __launch_bounds__(threads, 1)
    window_gradient_kernel(const __grid_constant__ ScanArrays scan,
                           const __grid_constant__ ChunkArrays chunk,
                           const __grid_constant__ Boxes boxes) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared[];
  using Chip = OnChip<n, Count, shares>;
  WindowGradient<n, Count, shares> gradient(scan, chunk, boxes, *reinterpret_cast<Chip*>(shared));
  follow_earlier_kernels();
  const int cluster = shares > 0 ? scan.n_modes : 1;
  const int n_clusters = static_cast<int>(gridDim.x) / cluster;
  const int worker = static_cast<int>(threadIdx.x) / (threads / Chip::windows) * n_clusters +
                     static_cast<int>(blockIdx.x) / cluster;
  const int workers = n_clusters * Chip::windows;
  const int share = chunk.count / workers;
  const int rest = chunk.count % workers;
  const int first = worker * share + min(worker, rest);
  gradient.add(first, first + share + (worker < rest ? 1 : 0));
  if constexpr (shares > 0) wait_for_cluster();  // others may still read what this block holds
#endif
}

template <int n, class Count, int shares>
void launch_window_gradient(void* stream, const ScanArrays& scan, const ChunkArrays& chunk) {
  using S = Slices<n>;
  using Chip = OnChip<n, Count, shares>;
  static_assert(sizeof(Chip) <= shared_bytes);
  constexpr int whole_rows_staged = (32 - Chip::held) / S::across;
  constexpr std::int64_t more_than_slots = std::int64_t{1} << 24;
  Boxes boxes{};
  if (chunk.object_sum)
    boxes.object = make_boxes(chunk.object_sum, S::count * chunk.object_width,
                              (chunk.object_height + S::count - 1) / S::count, n, S::rows);
  if (chunk.slot_sums)
    boxes.probe = make_boxes(chunk.slot_sums, S::count * n, more_than_slots, n,
                             std::max(whole_rows_staged, 1));
  launch_clusters(window_gradient_kernel<n, Count, shares>, shares > 0 ? scan.n_modes : 1,
                  chunk.count, threads, sizeof(Chip) / sizeof(float2), stream, scan, chunk, boxes);
}

template <int n>
void launch_one_mode(void* stream, const ScanArrays& scan, const ChunkArrays& chunk) {
  switch (scan.counts) {
    case Counts::u8:
      return launch_window_gradient<n, std::uint8_t, 0>(stream, scan, chunk);
    case Counts::u16:
      return launch_window_gradient<n, std::uint16_t, 0>(stream, scan, chunk);
    case Counts::u32:
      return launch_window_gradient<n, std::uint32_t, 0>(stream, scan, chunk);
    case Counts::f32:
      return launch_window_gradient<n, float, 0>(stream, scan, chunk);
  }
}

void launch_modes(void* stream, const ScanArrays& scan, const ChunkArrays& chunk) {
  switch ((8 + scan.n_modes - 1) / scan.n_modes) {
    case 1:
      return launch_window_gradient<128, float, 1>(stream, scan, chunk);
    case 2:
      return launch_window_gradient<128, float, 2>(stream, scan, chunk);
    case 3:
      return launch_window_gradient<128, float, 3>(stream, scan, chunk);
    default:
      return launch_window_gradient<128, float, 4>(stream, scan, chunk);
  }
}

}  // namespace

bool fits_on_chip(int n, int n_modes) {
  return kernels_may_overlap() &&
         (n == 128 ? n_modes >= 1 && n_modes <= 8 : n == 64 && n_modes == 1);
}

void add_gradients_on_chip(void* stream, const ScanArrays& scan, const ChunkArrays& chunk) {
  if (chunk.count == 0) return;
  add_coverage(stream, scan, chunk);
  if (scan.n_modes > 1) return launch_modes(stream, scan, chunk);
  scan.n == 64 ? launch_one_mode<64>(stream, scan, chunk)
               : launch_one_mode<128>(stream, scan, chunk);
}

}  // namespace tessera::physics::hot_path
