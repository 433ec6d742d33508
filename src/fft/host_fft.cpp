#include "tessera/fft/host_fft.hpp"

#include "fftw_types.hpp"

namespace tessera::fft {
namespace {

void unitary_transform(WaveStack& waves, int direction) {
  using Library = Fftw<double>;
  if (waves.size() == 0) return;
  const Shape2 shape = waves.shape();
  auto image = [&](int i) { return reinterpret_cast<Library::Complex*>(waves.image(i)); };
  const Library::Plan plan = Library::plan_2d(shape.h, shape.w, image(0), image(0), direction,
                                              FFTW_ESTIMATE | FFTW_UNALIGNED);
  for (int i = 0; i < waves.n(); ++i) Library::execute(plan, image(i), image(i));
  Library::destroy(plan);
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

}  // namespace tessera::fft
