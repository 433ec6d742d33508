/// How often, and how brightly, a chunk covers object and probe: sums that need no transform.

#include "hot_path_window.cuh"

namespace tessera::physics::hot_path {
namespace {

constexpr int rows = 8;  ///< of a block, one a warp

/// dose += |probe|^2; overlap += |object|^2. A block takes some rows of `run` places in turn.
template <int n>
__global__ void __launch_bounds__(32 * rows)
    coverage_kernel(const __grid_constant__ ScanArrays scan,
                    const __grid_constant__ ChunkArrays chunk, int run) {
  constexpr int across = n / 32;
  follow_earlier_kernels();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int y = static_cast<int>(blockIdx.x) * rows + static_cast<int>(threadIdx.x) / 32;
  const int first = static_cast<int>(blockIdx.y) * run;
  const int last = min(first + run, chunk.count);
  float overlap[across] = {};
  float probe_power[across];
  int slot = -1;
  for (int j = first; j < last; ++j) {
    const Place place = place_of(scan, chunk, j);
    if (place.slot != slot && chunk.dose) {
      slot = place.slot;
      for (int a = 0; a < across; ++a) probe_power[a] = 0;
      for (int m = 0; m < scan.n_modes; ++m)
#pragma unroll
        for (int a = 0; a < across; ++a)
          probe_power[a] += power(__ldg(as_float2(chunk.probes) +
                                        image_row(slot, scan.n_modes, m, n, y) + lane + 32 * a));
    }
    const std::int64_t at = place.object + y * chunk.object_width + lane;
    if (chunk.dose)
#pragma unroll
      for (int a = 0; a < across; ++a) atomicAdd(chunk.dose + at + 32 * a, probe_power[a]);
    if (!chunk.overlap) continue;
    const float intensity = scan.intensity ? scan.intensity[scan.order[chunk.begin + j]] : 1.F;
#pragma unroll
    for (int a = 0; a < across; ++a)
      overlap[a] += intensity * power(__ldg(as_float2(chunk.object) + at + 32 * a));
  }
  if (chunk.overlap)
#pragma unroll
    for (int a = 0; a < across; ++a) atomicAdd(chunk.overlap + y * n + lane + 32 * a, overlap[a]);
}

template <int n>
void launch_coverage(void* stream, const ScanArrays& scan, const ChunkArrays& chunk) {
  const int run = run_length(chunk.count, n / rows, 8);
  launch(coverage_kernel<n>, dim3(n / rows, (chunk.count + run - 1) / run), 32 * rows, 0, stream,
         scan, chunk, run);
}

}  // namespace

void add_coverage(void* stream, const ScanArrays& scan, const ChunkArrays& chunk) {
  if (!chunk.dose && !chunk.overlap) return;
  with_chip_size(scan.n, [&](auto size) { launch_coverage<size>(stream, scan, chunk); });
}

void add_overlap(void* stream, const ScanArrays& scan, const ChunkArrays& chunk) {
  ChunkArrays without_dose = chunk;
  without_dose.dose = nullptr;
  add_coverage(stream, scan, without_dose);
}

}  // namespace tessera::physics::hot_path
