/// The kernels of the hot path that work on rows: before and behind the detector.

#include "hot_path_rows.cuh"

namespace tessera::physics::hot_path {
namespace {

/// What a thread added up of its elements of row y.
template <int n>
__device__ __forceinline__ void add_overlap(const ChunkArrays& chunk,
                                            const float (&overlap)[Line<n>::elements], int y,
                                            int t) {
  float* const sum = chunk.overlap + y * n + t;
#pragma unroll
  for (int s = 0; s < Line<n>::elements; ++s) atomicAdd(sum + Line<n>::threads * s, overlap[s]);
}

/// waves = transform along x of probe object scale; dose += |probe|^2; overlap +=
/// |object|^2. A block takes some rows of `run` places in turn.
template <int n>
__global__ void __launch_bounds__(RowBlock<n>::threads, Line<n>::min_blocks)
    exit_rows_kernel(ScanArrays scan, ChunkArrays chunk, float2* __restrict__ waves, int run) {
  using L = Line<n>;
  extern __shared__ float4 shared[];
  const RowMemory<n> memory{reinterpret_cast<float2*>(shared)};
  make_twiddles<n>(memory.twiddles);
  follow_earlier_kernels();
  const RowBlock<n> block;
  auto* const probe_power = reinterpret_cast<float*>(memory.sum_of(block));
  const int y = static_cast<int>(blockIdx.x) * block.rows + block.row;
  const int first = static_cast<int>(blockIdx.y) * run;
  const int last = min(first + run, chunk.count);
  constexpr bool keeps_object = L::elements == 8;  // for the next mode: there are registers
  float overlap[L::elements] = {};
  for (int j = first; j < last; ++j) {
    const RowPlace place = place_of(scan, chunk, j, y);
    const float2* const object = as_float2(chunk.object) + place.object + block.t;
    float* const dose = chunk.dose ? chunk.dose + place.object : nullptr;
    const int phase = phase_of(dose);
    float* const power_sum = probe_power + phase + block.t;
    const float intensity = scan.intensity ? scan.intensity[place.position] : 1.F;
    float2 o[L::elements];
    for (int m = 0; m < scan.n_modes; ++m) {
      const float2* const probe =
          as_float2(chunk.probes) + image_row(place.slot, scan.n_modes, m, n, y) + block.t;
      float2 v[L::elements];
#pragma unroll
      for (int s = 0; s < L::elements; ++s) {
        const float2 p = __ldg(probe + L::threads * s);
        if (m == 0 || !keeps_object) o[s] = __ldg(object + L::threads * s);
        float& total = power_sum[L::threads * s];
        total = m == 0 ? power(p) : total + power(p);
        if (m == 0) overlap[s] += intensity * power(o[s]);
        v[s] = p * (o[s] * chunk.scale);
      }
      transform<n, -1, Lines::rows, 1>(v, block.t, memory.twiddles, memory.exchange_of(block));
      float2* const wave = waves + image_row(j, scan.n_modes, m, n, y) + block.t;
#pragma unroll
      for (int s = 0; s < L::elements; ++s) wave[L::threads * s] = v[s];
    }
    if (!dose) continue;
    synchronise<n, Lines::rows>();
    add_row<L::threads>(dose, probe_power, phase, n, block.t);
    synchronise<n, Lines::rows>();
  }
  if (chunk.overlap) add_overlap<n>(chunk, overlap, y, block.t);
}

/// sum += |probe|^2, a row of both.
template <int n>
__device__ __forceinline__ void add_power(float* sum, const float2* probe, float* staged, int t) {
  using L = Line<n>;
  const int phase = phase_of(sum);
#pragma unroll
  for (int s = 0; s < L::elements; ++s)
    staged[phase + t + L::threads * s] = power(__ldg(probe + L::threads * s));
  synchronise<n, Lines::rows>();
  add_row<L::threads>(sum, staged, phase, n, t);
  synchronise<n, Lines::rows>();
}

/// Back along x; object_sum += conj(probe) wave; slot_sums += conj(object) wave. A block takes some
/// rows of `run` places in turn, of one mode: more fill the shared memory.
/// @tparam kept row spectra, by position: slot_sums += conj(object) (wave - probe object); dose and
/// overlap are still to be added to
template <int n, bool kept>
__global__ void __launch_bounds__(RowBlock<n>::threads, Line<n>::min_blocks - 1)
    rows_gradient_kernel(ScanArrays scan, ChunkArrays chunk, const float2* __restrict__ waves,
                         int run) {
  using L = Line<n>;
  constexpr int step = L::threads;
  extern __shared__ float4 shared[];
  const RowMemory<n> memory{reinterpret_cast<float2*>(shared)};
  make_twiddles<n>(memory.twiddles);
  follow_earlier_kernels();
  const RowBlock<n> block;
  float2* const exchange = memory.exchange_of(block);
  float2* const slot_sum = memory.sum_of(block);
  const int y = static_cast<int>(blockIdx.x) * block.rows + block.row;
  const int mode = static_cast<int>(blockIdx.z);
  const int first = static_cast<int>(blockIdx.y) * run;
  const int last = min(first + run, chunk.count);
  const float scale = kept ? 1.F : chunk.scale;
  float overlap[L::elements] = {};
  bool fresh = true;  // what slot_sum holds is of no use
  for (int j = first; j < last; ++j) {
    const RowPlace place = place_of(scan, chunk, j, y);
    const float2* const object = as_float2(chunk.object) + place.object + block.t;
    const std::int64_t slot_row = image_row(place.slot, scan.n_modes, mode, n, y);
    const float2* const wave =
        waves + image_row(kept ? place.position : j, scan.n_modes, mode, n, y) + block.t;
    const float2* const probe = as_float2(chunk.probes) + slot_row + block.t;
    const float intensity = kept && scan.intensity ? scan.intensity[place.position] : 1.F;
    float2 v[L::elements];
#pragma unroll
    for (int s = 0; s < L::elements; ++s) v[s] = wave[step * s];
    transform<n, 1, Lines::rows, 1>(v, block.t, memory.twiddles, exchange);
    synchronise<n, Lines::rows>();
    auto* const object_sum =
        chunk.object_sum ? reinterpret_cast<float*>(chunk.object_sum + place.object) : nullptr;
    const int phase = phase_of(object_sum);
#pragma unroll
    for (int s = 0; s < L::elements; ++s) {
      const float2 chi = v[s] * scale;
      const float2 p = __ldg(probe + step * s);
      exchange[phase / 2 + block.t + step * s] = conj_times(p, chi);
      if (!chunk.slot_sums) continue;
      const float2 o = __ldg(object + step * s);
      const float2 of_probe = conj_times(o, kept ? chi - p * o : chi);
      float2& sum = slot_sum[block.t + step * s];
      sum = fresh ? of_probe : sum + of_probe;
      if (kept) overlap[s] += intensity * power(o);
    }
    synchronise<n, Lines::rows>();
    if (object_sum)
      add_row<step>(object_sum, reinterpret_cast<float*>(exchange), phase, 2 * n, block.t);
    fresh = j + 1 == last || slot_of(scan, chunk, j + 1) != place.slot;
    if (chunk.slot_sums && fresh)
      add_row<step>(reinterpret_cast<float*>(chunk.slot_sums + slot_row),
                    reinterpret_cast<float*>(slot_sum), 0, 2 * n, block.t);
    synchronise<n, Lines::rows>();
    if (kept && chunk.dose)
      add_power<n>(chunk.dose + place.object, probe, reinterpret_cast<float*>(exchange), block.t);
  }
  if (kept && chunk.overlap && mode == 0) add_overlap<n>(chunk, overlap, y, block.t);
}

/// Back along x to chi; with u = P dO and v = dP O: ||u||^2, Re <u, v>, ||v||^2, Re <u, chi>,
/// Re <v, chi> of every place. A block takes some rows of `run` places in turn, of one mode.
template <int n>
__global__ void __launch_bounds__(RowBlock<n>::threads, Line<n>::min_blocks - 1)
    rows_products_kernel(ScanArrays scan, ChunkArrays chunk, Directions directions,
                         const float2* __restrict__ waves, int run) {
  using L = Line<n>;
  extern __shared__ float4 shared[];
  const RowMemory<n> memory{reinterpret_cast<float2*>(shared)};
  make_twiddles<n>(memory.twiddles);
  follow_earlier_kernels();
  const RowBlock<n> block;
  const int y = static_cast<int>(blockIdx.x) * block.rows + block.row;
  const int mode = static_cast<int>(blockIdx.z);
  const int first = static_cast<int>(blockIdx.y) * run;
  const int last = min(first + run, chunk.count);
  for (int j = first; j < last; ++j) {
    const RowPlace place = place_of(scan, chunk, j, y);
    const std::int64_t object_at = place.object + block.t;
    const std::int64_t probe_at = image_row(place.slot, scan.n_modes, mode, n, y) + block.t;
    const float2* const wave = waves + image_row(j, scan.n_modes, mode, n, y) + block.t;
    float2 chi[L::elements];
#pragma unroll
    for (int s = 0; s < L::elements; ++s) chi[s] = wave[L::threads * s];
    transform<n, 1, Lines::rows, 1>(chi, block.t, memory.twiddles, memory.exchange_of(block));
    float sum[5] = {};
#pragma unroll
    for (int s = 0; s < L::elements; ++s) {
      const int at = L::threads * s;
      const float2 u = __ldg(as_float2(chunk.probes) + probe_at + at) *
                       __ldg(as_float2(directions.object) + object_at + at);
      const float2 v = __ldg(as_float2(directions.probes) + probe_at + at) *
                       __ldg(as_float2(chunk.object) + object_at + at);
      const float2 scaled = chi[s] * chunk.scale;
      sum[0] += power(u);
      sum[1] += u.x * v.x + u.y * v.y;
      sum[2] += power(v);
      sum[3] += u.x * scaled.x + u.y * scaled.y;
      sum[4] += v.x * scaled.x + v.y * scaled.y;
    }
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < 5; ++i) {
      for (int half = 16; half > 0; half /= 2) sum[i] += __shfl_xor_sync(~0U, sum[i], half);
      if (lane == i) atomicAdd(directions.products + 5 * j + i, static_cast<double>(sum[i]));
    }
  }
}

}  // namespace

void exit_rows(void* stream, const ScanArrays& scan, const ChunkArrays& chunk, Complex* waves) {
  with_size(scan.n, [&](auto size) {
    launch_rows<size, exit_rows_kernel<size>>(1, stream, scan, chunk, as_float2(waves));
  });
}

void rows_gradient(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                   const Complex* waves) {
  with_size(scan.n, [&](auto size) {
    launch_rows<size, rows_gradient_kernel<size, false>>(scan.n_modes, stream, scan, chunk,
                                                         as_float2(waves));
  });
}

void add_kept(void* stream, const ScanArrays& scan, const ChunkArrays& chunk, const Complex* kept) {
  if (chunk.count == 0) return;
  with_size(scan.n, [&](auto size) {
    launch_rows<size, rows_gradient_kernel<size, true>>(scan.n_modes, stream, scan, chunk,
                                                        as_float2(kept));
  });
}

void add_products(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                  const Directions& directions, const Complex* waves) {
  if (chunk.count == 0) return;
  with_size(scan.n, [&](auto size) {
    launch_rows<size, rows_products_kernel<size>>(scan.n_modes, stream, scan, chunk, directions,
                                                  as_float2(waves));
  });
}

}  // namespace tessera::physics::hot_path
