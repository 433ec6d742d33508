#include "tessera/optics/host_fft.hpp"

#include <cmath>
#include <map>
#include <mutex>
#include <tuple>

#include <fftw3.h>

namespace tessera::optics {
namespace {

/// In place, anywhere in memory; kept to the end. FFTW executes plans in any thread, but makes them
/// in one at a time.
/// @param image is not touched
fftw_plan plan_for(Shape2 shape, int direction, fftw_complex* image) {
  static std::mutex mutex;
  static std::map<std::tuple<int, int, int>, fftw_plan> plans;
  const std::lock_guard lock(mutex);
  fftw_plan& plan = plans[{shape.h, shape.w, direction}];
  if (!plan)
    plan =
        fftw_plan_dft_2d(shape.h, shape.w, image, image, direction, FFTW_ESTIMATE | FFTW_UNALIGNED);
  return plan;
}

void unitary_transform(WaveStack& waves, int direction) {
  if (waves.size() == 0) return;
  const Shape2 shape = waves.shape();
  const auto image = [&](int i) { return reinterpret_cast<fftw_complex*>(waves.image(i)); };
  const fftw_plan plan = plan_for(shape, direction, image(0));
  for (int i = 0; i < waves.n(); ++i) fftw_execute_dft(plan, image(i), image(i));
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
