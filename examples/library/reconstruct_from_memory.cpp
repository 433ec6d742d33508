// Patterns that lie in memory, reconstructed on any number of ranks: mpirun -np 4
// reconstruct_from_memory Here they are computed, one when it is asked for; an instrument's buffer
// would stand in their place.

#include <cmath>
#include <complex>
#include <cstdio>

#include "tessera/optics/host_fft.hpp"
#include "tessera/optics/start_probe.hpp"
#include "tessera/tessera.hpp"

using tessera::Vec2;
using tessera::WaveStack;

namespace {

constexpr tessera::Shape2 window{32, 32};
constexpr double pixel_m = 24.22e-9;  // 1 m * 0.155 nm / (32 * 200 um)

constexpr const char* deck = R"(
[experiment]
energy_eV = 8000.0
distance_m = 1.0
detector_pixel_m = 200e-6
[probe]
initial = "aperture"
semi_angle_rad = 1.2e-3
defocus_m = 60e-6
[solver]
method = "lsqml"
epochs = 60
batch_size = 16
[output]
file = "from_memory.h5"
)";

/// What is to be found: a smooth phase.
std::complex<double> sample(double y, double x) {
  return std::polar(1.0, 0.5 * std::sin(0.21 * y) * std::cos(0.17 * x));
}

std::vector<Vec2> scan_positions() {
  std::vector<Vec2> positions_m;
  for (int i = 0; i < 100; ++i)  // whole pixels, but no regular grid
    positions_m.push_back({(5 * (i / 10) + i % 3) * pixel_m, (5 * (i % 10) + i % 2) * pixel_m});
  return positions_m;
}

}  // namespace

int main(int argc, char** argv) {
  const tessera::Session session(argc, argv);
  WaveStack probe =
      tessera::optics::aperture_probe(window, 0.15498e-9, pixel_m, {1.2e-3, {.defocus_m = 60e-6}});
  tessera::optics::scale_to_counts(probe, 1e6);
  const std::vector<Vec2> positions_m = scan_positions();
  const auto read = [&](int first, int n, float* counts) {
    for (int i = first; i < first + n; ++i) {
      WaveStack wave = probe;
      for (int y = 0; y < window.h; ++y)
        for (int x = 0; x < window.w; ++x)
          wave(0, y, x) *= sample(positions_m[i].y / pixel_m + y, positions_m[i].x / pixel_m + x);
      tessera::optics::forward_2d(wave);
      for (const auto& value : tessera::optics::centred(wave))
        *counts++ = static_cast<float>(std::norm(value));
    }
  };
  tessera::Reconstruction reconstruction(session, deck, {window, positions_m, read});
  while (!reconstruction.finished()) reconstruction.run_epoch();
  const double error = reconstruction.error();
  reconstruction.write();
  const tessera::Box owned = reconstruction.owned();
  std::printf("rank %d owns %d x %d pixels of the object; error %.2g\n", session.ranks().rank(),
              owned.height(), owned.width(), error);
  return error < 1e-3 ? 0 : 1;
}
