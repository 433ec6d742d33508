#include "recorded_pixels.hpp"

#include <cmath>

#include "io/bad_pixels.hpp"

namespace tessera::io {

RecordedPixels::RecordedPixels(const Framing& framing, const ScanInfo& info, bool in_near_field)
    : trusted(1, framing.needed().shape()),
      in_beam(1, framing.needed().shape()),
      pixel(static_cast<std::size_t>(framing.needed().area()), -1) {
  const auto [h, w] = info.pattern;
  framing.for_each_pixel(
      framing.needed(), [&, h = h, w = w](std::int64_t at, const auto& recorded) {
        const double distance_px = std::hypot(frequency_index(static_cast<int>(at / w), h),
                                              frequency_index(static_cast<int>(at % w), w));
        recorded([&](std::int64_t i) {
          trusted.data()[i] = info.valid_pixels.data()[at];
          in_beam.data()[i] = !in_near_field && distance_px <= sharpest_beam_px;
          pixel[static_cast<std::size_t>(i)] = at;
        });
      });
}

}  // namespace tessera::io
