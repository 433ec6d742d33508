#include "tessera/optics/host_fft.hpp"

#include <cmath>

#include <fftw3.h>

namespace tessera::optics {
namespace {

void unitary_transform(WaveStack& waves, int direction) {
  if (waves.size() == 0) return;
  const Shape2 shape = waves.shape();
  const auto image = [&](int i) { return reinterpret_cast<fftw_complex*>(waves.image(i)); };
  const fftw_plan plan = fftw_plan_dft_2d(shape.h, shape.w, image(0), image(0), direction,
                                          FFTW_ESTIMATE | FFTW_UNALIGNED);
  for (int i = 0; i < waves.n(); ++i) fftw_execute_dft(plan, image(i), image(i));
  fftw_destroy_plan(plan);
  const double scale = 1 / std::sqrt(static_cast<double>(shape.size()));
  for (auto& value : waves) value *= scale;
}

}  // namespace

void forward_2d(WaveStack& waves) {
  unitary_transform(waves, FFTW_FORWARD);
}
void inverse_2d(WaveStack& waves) {
  unitary_transform(waves, FFTW_BACKWARD);
}

}  // namespace tessera::optics
