/// The kernels of the hot path for projections of exit waves that are kept.

#include "hot_path_detector.cuh"

namespace tessera::physics::hot_path {
namespace {

/// A block for `columns` columns of one place.
template <int n>
struct Columns : ColumnBlock<n, columns_of_block<n>> {
  static constexpr int columns = columns_of_block<n>;
  static constexpr int shared = n + Line<n>::buffer * columns;  ///< float2
  /// Blocks that the registers of a multiprocessor hold: two lines, as many factors, and what else.
  static constexpr int held =
      (64 << 10) / (ColumnBlock<n, columns>::mode_threads * (6 * Line<n>::elements + 48));
  static constexpr int step = Line<n>::threads * n;  ///< from element to element of a thread
  int first = this->t * n + this->x;                 ///< pixel
};

/// What the modulus constraint acts on.
__device__ __forceinline__ float2 reflected(const Projection& p, float2 overlap, float2 kept) {
  return overlap * p.of_overlap + kept * p.of_kept;
}

/// sums: of P_O's waves; factor: what turns reflected waves into residuals; distance: of these.
template <int n>
__global__ void __launch_bounds__(Columns<n>::mode_threads, Columns<n>::held)
    compare_reflected_kernel(ScanArrays scan, ChunkArrays chunk, Projection p,
                             const float2* __restrict__ waves) {
  using L = Line<n>;
  using Block = Columns<n>;
  extern __shared__ float4 shared[];
  auto* const twiddles = reinterpret_cast<float2*>(shared);
  const Block block;
  float2* const buffer = twiddles + n + static_cast<int>(threadIdx.x) % Block::columns;
  unsigned raw[L::elements];
  load_counts(scan, pattern_of(scan, chunk, block.j) + block.first, Block::step, L::elements, raw);
  make_twiddles<n>(twiddles);
  follow_earlier_kernels();
  const int position = scan.order[chunk.begin + block.j];
  float intensity[L::elements] = {};
  float factor[L::elements] = {};  // at first the intensity of what is reflected
  for (int m = 0; m < scan.n_modes; ++m) {
    const float2* const wave = waves + image_row(block.j, scan.n_modes, m, n, 0) + block.first;
    const float2* const kept =
        as_float2(p.kept) + image_row(position, scan.n_modes, m, n, 0) + block.first;
    float2 v[L::elements];
    float2 r[L::elements];
#pragma unroll
    for (int s = 0; s < L::elements; ++s) {
      v[s] = wave[s * Block::step];
      r[s] = reflected(p, v[s], kept[s * Block::step]);
    }
    transform<n, -1, Lines::columns, Block::columns>(v, block.t, twiddles, buffer);
    transform<n, -1, Lines::columns, Block::columns>(r, block.t, twiddles, buffer);
#pragma unroll
    for (int s = 0; s < L::elements; ++s) {
      intensity[s] += power(v[s]);
      factor[s] += power(r[s]);
    }
  }
  float sum[n_compared] = {};
  float unused[n_compared] = {};
  float distance = 0;
  float* const factors = p.factor + image_row(block.j, 1, 0, n, 0) + block.first;
  with_noise_model(scan, [&](auto comparing) {
#pragma unroll
    for (int s = 0; s < L::elements; ++s) {
      const int at = block.first + s * Block::step;
      compare<comparing>(scan, at, raw[s], intensity[s], nullptr, sum);
      const float of_residual =
          compare<comparing>(scan, at, raw[s], factor[s], chunk.background_slopes, unused);
      distance += of_residual * of_residual * factor[s];
      factors[s * Block::step] = of_residual;
    }
  });
  for (int half = 16; half > 0; half /= 2) distance += __shfl_xor_sync(~0U, distance, half);
  if (threadIdx.x % 32 == 0) atomicAdd(p.distance + block.j, static_cast<double>(distance));
  add_sums(scan.noise, sum, chunk.sums);
}

/// Adds to every wave the share of its residual, of one mode, that leaves the bound.
template <int n>
__global__ void __launch_bounds__(Columns<n>::mode_threads, Columns<n>::held)
    project_kernel(ScanArrays scan, ChunkArrays chunk, Projection p,
                   const float2* __restrict__ waves) {
  using L = Line<n>;
  using Block = Columns<n>;
  extern __shared__ float4 shared[];
  auto* const twiddles = reinterpret_cast<float2*>(shared);
  make_twiddles<n>(twiddles);
  follow_earlier_kernels();
  const Block block;
  float2* const buffer = twiddles + n + static_cast<int>(threadIdx.x) % Block::columns;
  const int mode = static_cast<int>(blockIdx.y);
  const int position = scan.order[chunk.begin + block.j];
  const std::int64_t stored = image_row(position, scan.n_modes, mode, n, 0) + block.first;
  const float2* const wave = waves + image_row(block.j, scan.n_modes, mode, n, 0) + block.first;
  float2* const kept = as_float2(p.kept) + stored;
  float2* const overlapping = as_float2(p.overlapping) + stored;
  const double distance = p.distance[block.j];
  const auto share = distance <= p.bound ? 0.F : static_cast<float>(1 - sqrt(p.bound / distance));
  float2 base[L::elements];
  float2 v[L::elements];
#pragma unroll
  for (int s = 0; s < L::elements; ++s) {
    const float2 overlap = wave[s * Block::step];
    v[s] = reflected(p, overlap, kept[s * Block::step]);
    base[s] = p.from_overlap ? overlap : v[s];
  }
  transform<n, -1, Lines::columns, Block::columns>(v, block.t, twiddles, buffer);
  const float* const factors = p.factor + image_row(block.j, 1, 0, n, 0) + block.first;
  const float scale = p.of_residual * share / n;
#pragma unroll
  for (int s = 0; s < L::elements; ++s) v[s] = v[s] * (factors[s * Block::step] * scale);
  transform<n, 1, Lines::columns, Block::columns>(v, block.t, twiddles, buffer);
#pragma unroll
  for (int s = 0; s < L::elements; ++s) {
    const float2 next = base[s] + v[s];
    overlapping[s * Block::step] = next;
    if (kept != overlapping) kept[s * Block::step] = next * p.keeps_new + base[s] * p.keeps_base;
  }
}

}  // namespace

void project(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
             const Projection& projection, Complex* waves) {
  if (chunk.count == 0) return;
  exit_rows(stream, scan, chunk, waves);
  with_size(scan.n, [&](auto size) {
    using Block = Columns<size>;
    const unsigned blocks = chunk.count * Block::groups;
    launch(compare_reflected_kernel<size>, dim3(blocks), Block::mode_threads, Block::shared, stream,
           scan, chunk, projection, as_float2(waves));
    launch(project_kernel<size>, dim3(blocks, scan.n_modes), Block::mode_threads, Block::shared,
           stream, scan, chunk, projection, as_float2(waves));
  });
}

}  // namespace tessera::physics::hot_path
