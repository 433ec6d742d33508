/// Steps of projection methods on the chip, and the sums of waves that are kept as spectra.

#include "window_gradient_cuda.cuh"

namespace tessera::physics::hot_path {
namespace {

template <Gradient gradient>
void launch_projection(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                       const Projection& projection) {
  with_comparison(scan, [&](auto plain) {
    with_counts(scan, LaunchWindows<gradient, plain>{stream, scan, chunk, projection});
  });
  gather_background_slopes(stream, scan, chunk);
}

}  // namespace

void project_and_add(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                     const Projection& projection) {
  if (chunk.count == 0) return;
  add_overlap(stream, scan, chunk);
  if (projection.bound > 0)
    launch_projection<Gradient::of_bounded>(stream, scan, chunk, projection);
  else
    launch_projection<Gradient::of_projection>(stream, scan, chunk, projection);
}

void add_kept_spectra(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                      const Complex* spectra) {
  if (chunk.count == 0) return;
  add_overlap(stream, scan, chunk);
  Projection kept{};
  kept.overlapping = const_cast<Complex*>(spectra);
  const LaunchWindows<Gradient::of_kept, true> launch_windows{stream, scan, chunk, kept};
  with_spectra_size(scan.n,
                    [&](auto size) { launch_windows(WindowKind<size, std::uint8_t, 0>()); });
}

}  // namespace tessera::physics::hot_path
