#include "optics/framed_probe.hpp"

#include <algorithm>
#include <numbers>

#include "tessera/optics/host_fft.hpp"

namespace tessera::optics {
namespace {

/// The middles [h/2, w/2] of both coincide; what `images` lack is 0.
WaveStack with_shape(const WaveStack& images, Shape2 shape) {
  WaveStack out(images.n(), shape);
  const int dy = images.h() / 2 - shape.h / 2;
  const int dx = images.w() / 2 - shape.w / 2;
  for (int i = 0; i < images.n(); ++i)
    for (int y = std::max(0, -dy); y < std::min(shape.h, images.h() - dy); ++y)
      for (int x = std::max(0, -dx); x < std::min(shape.w, images.w() - dx); ++x)
        out(i, y, x) = images(i, y + dy, x + dx);
  return out;
}

/// On a detector of `shape`, the same frequencies.
WaveStack with_detector(const WaveStack& probe, Shape2 shape) {
  if (probe.shape() == shape) return probe;
  WaveStack wave = cornered(probe);
  forward_2d(wave);
  wave = cornered(with_shape(centred(wave), shape));
  inverse_2d(wave);
  return centred(wave);
}

WaveStack with_binned_detector(const WaveStack& probe, const geometry::DetectorFrame& frame) {
  const auto [h, w] = frame.cut;
  const double turn_y =
      -2 * std::numbers::pi / h * geometry::binned_zero_frequency_px(h, frame.bin);
  const double turn_x =
      -2 * std::numbers::pi / w * geometry::binned_zero_frequency_px(w, frame.bin);
  const Pixel centre{h / 2, w / 2};
  WaveStack turned = probe;
  for (int i = 0; i < probe.n(); ++i)
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x)
        turned(i, y, x) *= std::polar(1.0, turn_y * (y - centre.y) + turn_x * (x - centre.x));
  return with_shape(turned, frame.binned());
}

}  // namespace

WaveStack framed_probe(const WaveStack& probe, const geometry::DetectorFrame& frame) {
  WaveStack framed = with_detector(probe, frame.cut);
  if (frame.bin > 1) framed = with_binned_detector(framed, frame);
  return with_detector(framed, frame.pattern);
}

}  // namespace tessera::optics
