#pragma once
/// A warp's share of the probe's sum, in kernels that keep windows on the chip.

#include <algorithm>

#include "window_chip_cuda.cuh"
#include "window_sums_cuda.cuh"

namespace tessera::physics::hot_path {

/// What is added to, as boxes of rows that a slice has.
struct Boxes {
  CUtensorMap object;
  CUtensorMap probe;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// Pixel i of a thread's 32 is x = lane + 32 (i % across) of row i / across. The chip holds the
/// first ones until the slot changes; the others are staged in the slice, which holds nothing else
/// meanwhile, and added by the copy engine.
/// @tparam Chip that the kernel has
template <int n, class Chip>
class ProbeSum {
  using S = Slices<n>;

 public:
  static constexpr int held = Chip::held;
  static constexpr int first_row = held / S::across;  ///< of those that are staged

  __device__ ProbeSum(const ScanArrays& scan, const ChunkArrays& chunk, const CUtensorMap& boxes,
                      Chip& chip, float2* staged, int slice, int mode)
      : scan_(scan),
        chunk_(chunk),
        boxes_(boxes),
        chip_(chip),
        staged_(staged),
        slice_(slice),
        mode_(mode) {}

  /// From now on that of `mode`.
  __device__ __forceinline__ void turn_to(int mode) { mode_ = mode; }
  /// Of pixel i < held.
  __device__ __forceinline__ float2& on_chip(int i) const { return chip_.probe_sum[i][thread_]; }
  __device__ __forceinline__ void stage(int i, float2 gradient) const {
    staged_[i / S::across * n + 32 * (i % S::across) + lane_] = gradient;
  }

  /// What the whole warp has staged. The slice is read until `wait_until_read` of its first lane.
  __device__ __forceinline__ void start_addition(int slot) const {
    constexpr int begin = 32 * (held % S::across);  // of the first row
    constexpr int first_whole = first_row + (begin > 0 ? 1 : 0);
    show_to_copy_engine();
    __syncwarp();
    if (lane_ > 0) return;
    if (begin > 0)
      hot_path::start_addition(sum_of(slot) + first_row * S::count * n + begin,
                               staged_ + first_row * n + begin, n - begin);
    if constexpr (S::blocks > 1)  // rows are longer than boxes may be
      for (int b = first_whole; b < S::rows; ++b)
        hot_path::start_addition(sum_of(slot) + b * S::count * n, staged_ + b * n, n);
    else if (first_whole < S::rows)
      start_rows(slot, first_whole);
    commit_additions();
  }

  /// The same of half of the rows, where all are staged.
  __device__ __forceinline__ void start_half(int slot, int half) const {
    show_to_copy_engine();
    __syncwarp();
    if (lane_ > 0) return;
    start_rows(slot, half * S::rows / 2);
    commit_additions();
  }

  /// What the chip holds is added to the slot's sum.
  __device__ __forceinline__ void flush(int slot) const {
    if (chunk_.slot_sums == nullptr) return;
    float2* const sum = sum_of(slot) + lane_;
#pragma unroll
    for (int i = 0; i < held; ++i) {
      add_float2(sum + i / S::across * S::count * n + i % S::across * 32, on_chip(i));
      on_chip(i) = make_float2(0, 0);
    }
  }

 private:
  const ScanArrays& scan_;
  const ChunkArrays& chunk_;
  const CUtensorMap& boxes_;
  Chip& chip_;
  float2* staged_;
  int slice_;
  int mode_;
  const int thread_ = static_cast<int>(threadIdx.x);
  const int lane_ = thread_ % 32;

  __device__ __forceinline__ int n_modes() const { return Chip::of_modes ? scan_.n_modes : 1; }
  /// Those of a box, from `row` on.
  __device__ __forceinline__ void start_rows(int slot, int row) const {
    hot_path::start_addition(boxes_, (slot * n_modes() + mode_) * S::rows + row, slice_ * n,
                             staged_ + row * n);
  }
  __device__ __forceinline__ float2* sum_of(int slot) const {
    return as_float2(chunk_.slot_sums) + image_row(slot, n_modes(), mode_, n, slice_);
  }
};

#endif

/// The slots' sums as boxes of the rows that a warp stages, whatever the slots.
template <int n, class Chip>
CUtensorMap probe_boxes(const ChunkArrays& chunk) {
  using S = Slices<n>;
  constexpr int whole_rows_staged = (32 - Chip::held) / S::across;
  constexpr std::int64_t more_than_slots = std::int64_t{1} << 24;
  if (chunk.slot_sums == nullptr || S::blocks > 1) return {};
  return make_boxes(chunk.slot_sums, S::count * n, more_than_slots, n,
                    Chip::held == 0 ? S::rows / 2 : std::max(whole_rows_staged, 1));
}

/// @tparam Chip that the kernel has
template <int n, class Chip>
Boxes boxes_of(const ChunkArrays& chunk) {
  return {object_boxes<n>(chunk), probe_boxes<n, Chip>(chunk)};
}

}  // namespace tessera::physics::hot_path
