/// The kernels of the hot path for thick samples: from slice to slice, there and back
/// (`slices.hpp`). Waves between them are row spectra, as everywhere on the hot path. Windows that
/// fit stay on the chip: `hot_path_thick_window.cu`.

#include "hot_path_rows.cuh"
#include "hot_path_window.cuh"

namespace tessera::physics::hot_path {
namespace {

/// Through the free space between two slices: along y, times the propagator, back along y.
template <int n>
__global__ void __launch_bounds__(ColumnBlock<n, columns_of_block<n>>::mode_threads)
    propagate_kernel(const float2* __restrict__ propagator, bool back, float2* __restrict__ waves) {
  using L = Line<n>;
  constexpr int columns = columns_of_block<n>;
  constexpr int step = L::threads * n;
  extern __shared__ float4 shared[];
  auto* const twiddles = reinterpret_cast<float2*>(shared);
  make_twiddles<n>(twiddles);
  follow_earlier_kernels();
  const ColumnBlock<n, columns> block;
  float2* const buffer = twiddles + n + static_cast<int>(threadIdx.x) % columns;
  const int first = block.t * n + block.x;
  float2* const wave = waves + image_row(block.j, 1, 0, n, 0) + first;
  float2 v[L::elements];
#pragma unroll
  for (int s = 0; s < L::elements; ++s) v[s] = wave[s * step];
  transform<n, -1, Lines::columns, columns>(v, block.t, twiddles, buffer);
#pragma unroll
  for (int s = 0; s < L::elements; ++s) {
    const float2 turn = __ldg(propagator + first + s * step);
    v[s] = back ? conj_times(turn, v[s]) : v[s] * turn;
  }
  transform<n, 1, Lines::columns, columns>(v, block.t, twiddles, buffer);
#pragma unroll
  for (int s = 0; s < L::elements; ++s) wave[s * step] = v[s];
}

/// incident, if kept, = the waves, which carry chunk.scale, without it; waves *= object. A block
/// takes some rows of `run` places in turn, of one mode.
template <int n, bool keeps>
__global__ void __launch_bounds__(RowBlock<n>::threads, Line<n>::min_blocks)
    transmit_kernel(ScanArrays scan, ChunkArrays chunk, float2* __restrict__ incident,
                    float2* __restrict__ waves, int run) {
  using L = Line<n>;
  extern __shared__ float4 shared[];
  const RowMemory<n> memory{reinterpret_cast<float2*>(shared)};
  make_twiddles<n>(memory.twiddles);
  follow_earlier_kernels();
  const RowBlock<n> block;
  float2* const exchange = memory.exchange_of(block);
  const int y = static_cast<int>(blockIdx.x) * block.rows + block.row;
  const int mode = static_cast<int>(blockIdx.z);
  const int first = static_cast<int>(blockIdx.y) * run;
  const int last = min(first + run, chunk.count);
  const float inverse_scale = 1 / chunk.scale;
  for (int j = first; j < last; ++j) {
    const RowPlace place = place_of(scan, chunk, j, y);
    const float2* const object = as_float2(chunk.object) + place.object + block.t;
    const std::int64_t at = image_row(j, scan.n_modes, mode, n, y) + block.t;
    float2 v[L::elements];
#pragma unroll
    for (int s = 0; s < L::elements; ++s) v[s] = waves[at + L::threads * s];
    transform<n, 1, Lines::rows, 1>(v, block.t, memory.twiddles, exchange);
#pragma unroll
    for (int s = 0; s < L::elements; ++s) {
      if constexpr (keeps) incident[at + L::threads * s] = v[s] * inverse_scale;
      v[s] = v[s] * __ldg(object + L::threads * s);
    }
    transform<n, -1, Lines::rows, 1>(v, block.t, memory.twiddles, exchange);
#pragma unroll
    for (int s = 0; s < L::elements; ++s) waves[at + L::threads * s] = v[s];
  }
}

/// object_sum += conj(incident) chi, dose += |incident|^2; waves = chi before the slice.
template <int n>
__global__ void __launch_bounds__(RowBlock<n>::threads, Line<n>::min_blocks - 1)
    transmit_back_kernel(ScanArrays scan, ChunkArrays chunk, const float2* __restrict__ incident,
                         float2* __restrict__ waves, int run) {
  using L = Line<n>;
  constexpr int step = L::threads;
  extern __shared__ float4 shared[];
  const RowMemory<n> memory{reinterpret_cast<float2*>(shared)};
  make_twiddles<n>(memory.twiddles);
  follow_earlier_kernels();
  const RowBlock<n> block;
  float2* const exchange = memory.exchange_of(block);
  auto* const powers = reinterpret_cast<float*>(memory.sum_of(block));
  const int y = static_cast<int>(blockIdx.x) * block.rows + block.row;
  const int mode = static_cast<int>(blockIdx.z);
  const int first = static_cast<int>(blockIdx.y) * run;
  const int last = min(first + run, chunk.count);
  for (int j = first; j < last; ++j) {
    const RowPlace place = place_of(scan, chunk, j, y);
    const float2* const object = as_float2(chunk.object) + place.object + block.t;
    const std::int64_t at = image_row(j, scan.n_modes, mode, n, y) + block.t;
    float2 v[L::elements];
#pragma unroll
    for (int s = 0; s < L::elements; ++s) v[s] = waves[at + step * s];
    transform<n, 1, Lines::rows, 1>(v, block.t, memory.twiddles, exchange);
    synchronise<n, Lines::rows>();
    auto* const object_sum = reinterpret_cast<float*>(chunk.object_sum + place.object);
    float* const dose = chunk.dose + place.object;
    const int phase = phase_of(object_sum);
    const int dose_phase = phase_of(dose);
#pragma unroll
    for (int s = 0; s < L::elements; ++s) {
      const float2 fallen = incident[at + step * s];
      exchange[phase / 2 + block.t + step * s] = conj_times(fallen, v[s] * chunk.scale);
      powers[dose_phase + block.t + step * s] = power(fallen);
      v[s] = conj_times(__ldg(object + step * s), v[s]);
    }
    synchronise<n, Lines::rows>();
    add_row<step>(object_sum, reinterpret_cast<float*>(exchange), phase, 2 * n, block.t);
    add_row<step>(dose, powers, dose_phase, n, block.t);
    synchronise<n, Lines::rows>();
    transform<n, -1, Lines::rows, 1>(v, block.t, memory.twiddles, exchange);
#pragma unroll
    for (int s = 0; s < L::elements; ++s) waves[at + step * s] = v[s];
  }
}

/// Object, its sum and its dose are those of a slice.
ChunkArrays at_slice(const ChunkArrays& chunk, int slice) {
  const std::int64_t first = slice * chunk.object_width * chunk.object_height;
  ChunkArrays there = chunk;
  there.object += first;
  there.object_sum += first;
  there.dose += first;
  return there;
}

template <int n>
void propagate(void* stream, const SliceArrays& slices, int gap, bool back, int n_images,
               float2* waves) {
  using Block = ColumnBlock<n, columns_of_block<n>>;
  launch(propagate_kernel<n>, dim3(n_images * Block::groups), Block::mode_threads,
         n + Line<n>::buffer * columns_of_block<n>, stream,
         as_float2(slices.propagators) + static_cast<std::int64_t>(gap) * n * n, back, waves);
}

int n_images(const ScanArrays& scan, const ChunkArrays& chunk) {
  return chunk.count * scan.n_modes;
}

float2* incident_on(const SliceArrays& slices, int slice) {
  return as_float2(slices.incident) + (slice - 1) * slices.incident_stride;
}

void copy_waves(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                const Complex* waves, Complex* kept) {
  const std::size_t n = static_cast<std::size_t>(n_images(scan, chunk)) * scan.n * scan.n;
  check(cudaMemcpyAsync(kept, waves, n * sizeof(Complex), cudaMemcpyDeviceToDevice,
                        static_cast<cudaStream_t>(stream)));
}

template <bool keeps>
void go_through(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                const SliceArrays& slices, Complex* waves) {
  exit_rows(stream, scan, chunk, waves);
  with_size(scan.n, [&](auto size) {
    for (int slice = 1; slice < slices.n_slices; ++slice) {
      propagate<size>(stream, slices, slice - 1, false, n_images(scan, chunk), as_float2(waves));
      launch_rows<size, transmit_kernel<size, keeps>>(
          scan.n_modes, stream, scan, at_slice(chunk, slice),
          keeps ? incident_on(slices, slice) : nullptr, as_float2(waves));
    }
  });
}

void go_back(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
             const SliceArrays& slices, Complex* waves) {
  with_size(scan.n, [&](auto size) {
    for (int slice = slices.n_slices - 1; slice >= 1; --slice) {
      launch_rows<size, transmit_back_kernel<size>>(scan.n_modes, stream, scan,
                                                    at_slice(chunk, slice),
                                                    incident_on(slices, slice), as_float2(waves));
      propagate<size>(stream, slices, slice - 1, true, n_images(scan, chunk), as_float2(waves));
    }
  });
  rows_gradient(stream, scan, chunk, waves);
}

}  // namespace

bool slices_better_on_chip(const ScanArrays& scan, const SliceArrays& slices, int count,
                           std::int64_t n_pixels) {
  return slices.propagators_on_chip && better_on_chip(scan, count, n_pixels);
}

void add_gradients_of_slices(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                             const SliceArrays& slices, Complex* waves, Complex* kept) {
  if (chunk.count == 0) return;
  const std::int64_t n_pixels = slices.n_slices * chunk.object_width * chunk.object_height;
  if (!kept && slices_better_on_chip(scan, slices, chunk.count, n_pixels))
    return add_gradients_of_slices_on_chip(stream, scan, chunk, slices, {});
  go_through<true>(stream, scan, chunk, slices, waves);
  detector_columns(stream, scan, chunk, waves);
  if (kept) copy_waves(stream, scan, chunk, waves, kept);
  go_back(stream, scan, chunk, slices, waves);
}

void exit_rows_of_slices(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                         const SliceArrays& slices, Complex* waves) {
  if (chunk.count > 0) go_through<false>(stream, scan, chunk, slices, waves);
}

}  // namespace tessera::physics::hot_path
