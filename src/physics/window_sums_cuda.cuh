#pragma once
/// What the kernels share that keep windows on the chip: their loads, and a slice's share of the
/// object's sum.

#include "bulk_copy_cuda.cuh"
#include "hot_path_window.cuh"
#include "window_fft_cuda.cuh"

namespace tessera::physics::hot_path {

/// Where it stands in the program: the compiler shall not gather loads, registers are few.
__device__ __forceinline__ float2 load_here(const float2* p) {
  float2 v;
  asm volatile("ld.global.nc.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(p));
  return v;
}

/// The same where `wanted`, else 0, without a branch.
__device__ __forceinline__ float2 load_if(bool wanted, const float2* p) {
  float2 v;
  asm volatile(
      "{\n.reg .pred wanted;\nsetp.ne.s32 wanted, %2, 0;\nmov.f32 %0, 0f00000000;\n"
      "mov.f32 %1, 0f00000000;\n@wanted ld.global.nc.v2.f32 {%0, %1}, [%3];\n}"
      : "=&f"(v.x), "=&f"(v.y)
      : "r"(static_cast<int>(wanted)), "l"(p));
  return v;
}

/// *sum += v where `wanted`, without a branch.
__device__ __forceinline__ void add_if(bool wanted, float* sum, float v) {
  asm volatile(
      "{\n.reg .pred wanted;\nsetp.ne.s32 wanted, %0, 0;\n"
      "@wanted red.global.add.f32 [%1], %2;\n}" ::"r"(static_cast<int>(wanted)),
      "l"(__cvta_generic_to_global(sum)), "f"(v)
      : "memory");
}

/// *p = v where `wanted`, without a branch.
__device__ __forceinline__ void store_if(bool wanted, float2* p, float2 v) {
  asm volatile(
      "{\n.reg .pred wanted;\nsetp.ne.s32 wanted, %0, 0;\n"
      "@wanted st.global.cg.v2.f32 [%1], {%2, %3};\n}" ::"r"(static_cast<int>(wanted)),
      "l"(__cvta_generic_to_global(p)), "f"(v.x), "f"(v.y)
      : "memory");
}

/// sum += conj(a) b
__device__ __forceinline__ void add_conj_times(float2& sum, float2 a, float2 b) {
  sum = make_float2(fmaf(a.x, b.x, fmaf(a.y, b.y, sum.x)), fmaf(a.x, b.y, fmaf(-a.y, b.x, sum.y)));
}

/// The copy engine's boxes are at most 256 floats wide.
constexpr int box_columns(int n) {
  return n < 128 ? n : 128;
}

/// The object's sum as boxes of rows that a slice has: a row of them is as many rows of the object
/// as a window has slices, so that rows of a slice lie below each other.
template <int n>
CUtensorMap object_boxes(const ChunkArrays& chunk) {
  using S = Slices<n>;
  if (chunk.object_sum == nullptr) return {};
  return make_boxes(chunk.object_sum, S::count * chunk.object_width,
                    (chunk.object_height + S::count - 1) / S::count, box_columns(n), S::rows);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// A slice's gradient of the object on its way to the sum: staged in the slice, which holds nothing
/// else meanwhile, and added by the copy engine. Boxes begin at even pixels: rows that begin at an
/// odd one are staged one place on, and their last pixel apart.
template <int n>
class ObjectRows {
  using S = Slices<n>;
  static constexpr int columns = box_columns(n);

 public:
  static constexpr int boxes = n / columns;  ///< side by side

  /// @param corner of the window in the object
  __device__ __forceinline__ ObjectRows(const ChunkArrays& chunk, float2* staged, unsigned corner,
                                        int slice, int lane)
      : chunk_(chunk), staged_(staged), lane_(lane) {
    const auto width = static_cast<unsigned>(chunk.object_width);
    first_ = corner + slice * width;
    row_ = first_ / (S::count * width);
    column_ = first_ - row_ * S::count * width;
    odd_ = static_cast<int>(column_ % 2);
    is_apart_ = odd_ && lane == 31;
  }

  /// Of pixel x = lane + 32 a of row b.
  __device__ __forceinline__ void stage(int a, int b, float2 gradient) const {
    constexpr int in_box = S::across / boxes;
    const int at = a / in_box * (S::rows * columns) + b * columns + a % in_box * 32 + lane_ + odd_;
    if (a % in_box < in_box - 1)
      staged_[at] = gradient;
    else if (a < S::across - 1)
      staged_[is_apart_ ? at + (S::rows - 1) * columns : at] = gradient;
    else
      staged_[is_apart_ ? 1024 + b : at] = gradient;
  }

  /// What the whole warp has staged. The slice is read until `wait_until_read` of its first lane.
  __device__ __forceinline__ void start_addition(const CUtensorMap& map) const {
    if (odd_ && lane_ < S::rows) staged_[lane_ * columns] = make_float2(0, 0);
    show_to_copy_engine();
    __syncwarp();
    if (lane_ == 0) {
      for (int box = 0; box < n / columns; ++box)
        hot_path::start_addition(map, static_cast<int>(row_),
                                 static_cast<int>(column_) - odd_ + box * columns,
                                 staged_ + box * S::rows * columns);
      commit_additions();
    }
    if (odd_ && lane_ < S::rows)
      add_float2(as_float2(chunk_.object_sum) + first_ +
                     lane_ * S::count * static_cast<unsigned>(chunk_.object_width) + (n - 1),
                 staged_[1024 + lane_]);
  }

 private:
  const ChunkArrays& chunk_;
  float2* staged_;
  int lane_;
  unsigned first_;
  unsigned row_;
  unsigned column_;
  int odd_;
  bool is_apart_;
};

#endif

}  // namespace tessera::physics::hot_path
