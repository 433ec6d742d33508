/// Shifted probes of the hot path's slots, and their gradients back to one probe.

#include "hot_path_cuda.cuh"
#include "shift_ramp_cuda.cuh"
#include "window_fft_cuda.cuh"

namespace tessera::physics::hot_path {
namespace {

/// Columns of the spectrum times ramp / n^2, transformed back along y, to `run` slots in turn.
template <int n, int columns>
__global__ void __launch_bounds__(ColumnBlock<n, columns>::mode_threads)
    shift_columns_kernel(Slots slots, const float2* __restrict__ row_spectrum,
                         float2* __restrict__ probes, int run) {
  using L = Line<n>;
  extern __shared__ float4 shared[];
  auto* const twiddles = reinterpret_cast<float2*>(shared);
  make_twiddles<n>(twiddles);
  follow_earlier_kernels();
  const ColumnBlock<n, columns> block;
  float2* const buffer = twiddles + n + static_cast<int>(threadIdx.x) % columns;
  const int first = block.j / slots.n_modes * run;
  const int mode = block.j % slots.n_modes;
  const float2* const from = row_spectrum + image_row(0, slots.n_modes, mode, n, block.t) + block.x;
  float2 spectrum[L::elements];
#pragma unroll
  for (int s = 0; s < L::elements; ++s) spectrum[s] = from[L::threads * s * n];
  transform<n, -1, Lines::columns, columns>(spectrum, block.t, twiddles, buffer);
  for (int slot = first; slot < min(first + run, slots.count); ++slot) {
    const float2 ramp_x = shift_ramp<n>(block.x, slots.shift[2 * slot + 1]) * (1.F / n / n);
    float2 v[L::elements];
#pragma unroll
    for (int s = 0; s < L::elements; ++s)
      v[s] =
          spectrum[s] * (shift_ramp<n>(block.t + L::threads * s, slots.shift[2 * slot]) * ramp_x);
    transform<n, 1, Lines::columns, columns>(v, block.t, twiddles, buffer);
    float2* const to = probes + image_row(slot, slots.n_modes, mode, n, block.t) + block.x;
#pragma unroll
    for (int s = 0; s < L::elements; ++s) to[L::threads * s * n] = v[s];
  }
}

/// Transform of rows where they are.
template <int n, int sign>
__global__ void __launch_bounds__(RowBlock<n>::threads) rows_in_place_kernel(float2* images) {
  using L = Line<n>;
  using Block = RowBlock<n>;
  extern __shared__ float4 shared[];
  auto* const twiddles = reinterpret_cast<float2*>(shared);
  make_twiddles<n>(twiddles);
  follow_earlier_kernels();
  const Block block;
  float2* const row =
      images + (static_cast<std::int64_t>(blockIdx.x) * Block::rows + block.row) * n + block.t;
  float2 v[L::elements];
#pragma unroll
  for (int s = 0; s < L::elements; ++s) v[s] = row[L::threads * s];
  transform<n, sign, Lines::rows, 1>(v, block.t, twiddles,
                                     twiddles + n + block.row * Block::buffer_pitch);
#pragma unroll
  for (int s = 0; s < L::elements; ++s) row[L::threads * s] = v[s];
}

/// Transform along y of `run` slots in turn, moved back and added up, then back along y; the slots'
/// sums become zero.
template <int n, int columns>
__global__ void __launch_bounds__(ColumnBlock<n, columns>::mode_threads)
    gather_columns_kernel(Slots slots, float2* __restrict__ slot_sums,
                          float2* __restrict__ probe_sum, int run) {
  using L = Line<n>;
  extern __shared__ float4 shared[];
  auto* const twiddles = reinterpret_cast<float2*>(shared);
  make_twiddles<n>(twiddles);
  follow_earlier_kernels();
  const ColumnBlock<n, columns> block;
  float2* const buffer = twiddles + n + static_cast<int>(threadIdx.x) % columns;
  const int first = block.j / slots.n_modes * run;
  const int mode = block.j % slots.n_modes;
  float2 total[L::elements] = {};
  for (int slot = first; slot < min(first + run, slots.count); ++slot) {
    float2* const from = slot_sums + image_row(slot, slots.n_modes, mode, n, block.t) + block.x;
    float2 v[L::elements];
#pragma unroll
    for (int s = 0; s < L::elements; ++s) {
      float2& at = from[L::threads * s * n];
      v[s] = at;
      at = make_float2(0, 0);
    }
    transform<n, -1, Lines::columns, columns>(v, block.t, twiddles, buffer);
    const float2 ramp_x = shift_ramp<n>(block.x, slots.shift[2 * slot + 1]);
#pragma unroll
    for (int s = 0; s < L::elements; ++s) {
      const float2 ramp_y = shift_ramp<n>(block.t + L::threads * s, slots.shift[2 * slot]);
      total[s] = total[s] + conj_times(ramp_y * ramp_x, v[s]);
    }
  }
  transform<n, 1, Lines::columns, columns>(total, block.t, twiddles, buffer);
  float2* const to = probe_sum + image_row(0, slots.n_modes, mode, n, block.t) + block.x;
#pragma unroll
  for (int s = 0; s < L::elements; ++s) add_float2(to + L::threads * s * n, total[s]);
}

/// Columns of the spectrum / n^2 in the chip's order.
template <int n, int columns>
__global__ void __launch_bounds__(ColumnBlock<n, columns>::mode_threads)
    spectrum_to_chip_kernel(const float2* __restrict__ row_spectrum, float2* __restrict__ on_chip) {
  using L = Line<n>;
  extern __shared__ float4 shared[];
  auto* const twiddles = reinterpret_cast<float2*>(shared);
  make_twiddles<n>(twiddles);
  follow_earlier_kernels();
  const ColumnBlock<n, columns> block;
  float2* const buffer = twiddles + n + static_cast<int>(threadIdx.x) % columns;
  const float2* const from = row_spectrum + image_row(block.j, 1, 0, n, block.t) + block.x;
  float2 v[L::elements];
#pragma unroll
  for (int s = 0; s < L::elements; ++s) v[s] = from[L::threads * s * n];
  transform<n, -1, Lines::columns, columns>(v, block.t, twiddles, buffer);
  float2* const to = on_chip + image_row(block.j, 1, 0, n, 0);
#pragma unroll
  for (int s = 0; s < L::elements; ++s)
    to[place_on_chip<n>(block.t + L::threads * s, block.x)] = v[s] * (1.F / n / n);
}

/// Back along y; the sum in the chip's order becomes zero.
template <int n, int columns>
__global__ void __launch_bounds__(ColumnBlock<n, columns>::mode_threads)
    gather_chip_kernel(float2* __restrict__ on_chip, float2* __restrict__ probe_sum) {
  using L = Line<n>;
  extern __shared__ float4 shared[];
  auto* const twiddles = reinterpret_cast<float2*>(shared);
  make_twiddles<n>(twiddles);
  follow_earlier_kernels();
  const ColumnBlock<n, columns> block;
  float2* const buffer = twiddles + n + static_cast<int>(threadIdx.x) % columns;
  float2* const from = on_chip + image_row(block.j, 1, 0, n, 0);
  float2 v[L::elements];
#pragma unroll
  for (int s = 0; s < L::elements; ++s) {
    float2& at = from[place_on_chip<n>(block.t + L::threads * s, block.x)];
    v[s] = at;
    at = make_float2(0, 0);
  }
  transform<n, 1, Lines::columns, columns>(v, block.t, twiddles, buffer);
  float2* const to = probe_sum + image_row(block.j, 1, 0, n, block.t) + block.x;
#pragma unroll
  for (int s = 0; s < L::elements; ++s) {
    float2& sum = to[L::threads * s * n];
    sum = sum + v[s];
  }
}

/// Between the chip's order and that of an image.
template <int n>
__global__ void planes_to_chip_kernel(const float2* __restrict__ spectrum,
                                      float2* __restrict__ on_chip) {
  follow_earlier_kernels();
  const std::int64_t plane = image_row(blockIdx.y, 1, 0, n, 0);
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  on_chip[plane + place_on_chip<n>(i / n, i % n)] = spectrum[plane + i] * (1.F / n / n);
}
template <int n>
__global__ void gather_planes_kernel(float2* __restrict__ on_chip,
                                     float2* __restrict__ plane_sums) {
  follow_earlier_kernels();
  const std::int64_t plane = image_row(blockIdx.y, 1, 0, n, 0);
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  float2& from = on_chip[plane + place_on_chip<n>(i / n, i % n)];
  plane_sums[plane + i] = plane_sums[plane + i] + from;
  from = make_float2(0, 0);
}

template <int n, class From>
void launch_chip_columns(void (*kernel)(From*, float2*), void* stream, int n_modes, From* from,
                         float2* to) {
  using Block = ColumnBlock<n, columns_of_block<n>>;
  launch(kernel, dim3(n_modes * Block::groups), Block::mode_threads,
         n + Line<n>::buffer * columns_of_block<n>, stream, from, to);
}

/// A kernel that takes columns of `run` slots in turn.
template <int n, class From>
void launch_columns(void (*kernel)(Slots, From*, float2*, int), void* stream, const Slots& slots,
                    From* from, float2* to) {
  constexpr int columns = columns_of_block<n>;
  using Block = ColumnBlock<n, columns>;
  const int run = run_length(slots.count, slots.n_modes * Block::groups);
  const int n_runs = (slots.count + run - 1) / run;
  launch(kernel, dim3(n_runs * slots.n_modes * Block::groups), Block::mode_threads,
         n + Line<n>::buffer * columns, stream, slots, from, to, run);
}

}  // namespace

void transform_rows(void* stream, int n_pixels, int count, bool forward, Complex* images) {
  if (count == 0) return;
  with_size(n_pixels, [&](auto size) {
    constexpr int n = size;
    using Block = RowBlock<n>;
    launch(forward ? rows_in_place_kernel<n, -1> : rows_in_place_kernel<n, 1>,
           dim3(count * (n / Block::rows)), Block::threads, n + Block::rows * Block::buffer_pitch,
           stream, as_float2(images));
  });
}

void shift_probes(void* stream, const Slots& slots, const Complex* row_spectrum, Complex* probes) {
  if (slots.count == 0) return;
  with_size(slots.n, [&](auto size) {
    launch_columns<size>(shift_columns_kernel<size, columns_of_block<size>>, stream, slots,
                         as_float2(row_spectrum), as_float2(probes));
  });
  transform_rows(stream, slots.n, slots.count * slots.n_modes, false, probes);
}

void gather_slot_sums(void* stream, const Slots& slots, Complex* slot_sums, Complex* probe_sum) {
  if (slots.count == 0) return;
  transform_rows(stream, slots.n, slots.count * slots.n_modes, true, slot_sums);
  with_size(slots.n, [&](auto size) {
    launch_columns<size>(gather_columns_kernel<size, columns_of_block<size>>, stream, slots,
                         as_float2(slot_sums), as_float2(probe_sum));
  });
}

void spectrum_to_chip(void* stream, int n_pixels, int n_modes, const Complex* row_spectrum,
                      Complex* on_chip) {
  with_chip_size(n_pixels, [&](auto size) {
    launch_chip_columns<size>(spectrum_to_chip_kernel<size, columns_of_block<size>>, stream,
                              n_modes, as_float2(row_spectrum), as_float2(on_chip));
  });
}

void planes_to_chip(void* stream, int n_pixels, int n_planes, const Complex* spectrum,
                    Complex* on_chip) {
  with_chip_size(n_pixels, [&](auto size) {
    launch(planes_to_chip_kernel<size>, dim3(size * size / 256, n_planes), 256, 0, stream,
           as_float2(spectrum), as_float2(on_chip));
  });
}

void gather_planes(void* stream, int n_pixels, int n_planes, Complex* on_chip,
                   Complex* plane_sums) {
  with_chip_size(n_pixels, [&](auto size) {
    launch(gather_planes_kernel<size>, dim3(size * size / 256, n_planes), 256, 0, stream,
           as_float2(on_chip), as_float2(plane_sums));
  });
}

void gather_from_chip(void* stream, int n_pixels, int n_modes, Complex* on_chip,
                      Complex* probe_sum) {
  with_chip_size(n_pixels, [&](auto size) {
    launch_chip_columns<size>(gather_chip_kernel<size, columns_of_block<size>>, stream, n_modes,
                              as_float2(on_chip), as_float2(probe_sum));
  });
}

}  // namespace tessera::physics::hot_path
