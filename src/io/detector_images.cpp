#include "detector_images.hpp"

#include <algorithm>
#include <cmath>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "framing.hpp"
#include "scan_format.hpp"
#include "stored_patterns.hpp"

namespace tessera::io {
namespace {

/// (1, h, w), 1 = trust.
ImageStack<std::uint8_t> checked_mask(const ImageStack<double>& recorded) {
  ImageStack<std::uint8_t> mask(1, recorded.shape());
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const double value = recorded.data()[i];
    if (value != 0 && value != 1)
      throw InputError(text("pixel (", i / recorded.w(), ", ", i % recorded.w(), ") is ", value,
                            "; it must be 1 (trust) or 0"));
    mask.data()[i] = static_cast<std::uint8_t>(value);
  }
  if (std::count(mask.begin(), mask.end(), 1) == 0)
    throw InputError("no pixel is valid; 1 means trust, 0 means bad");
  return mask;
}

void block_beam(const ScanSource& source, const geometry::DetectorFrame& frame,
                ImageStack<std::uint8_t>& mask) {
  const auto [h, w] = frame.recorded;
  const bool at_corner = zero_frequency(source) == ZeroFrequency::corner;
  const auto distance = [&](int i, int n, int centre) {
    return at_corner ? frequency_index(i, n) : i - centre;
  };
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x)
      if (std::hypot(distance(y, h, frame.centre.y), distance(x, w, frame.centre.x)) <
          source.beam_stop_radius_px) {
        const Pixel stored = stored_pixel(frame, {y, x});
        mask(0, stored.y, stored.x) = 0;
      }
}

/// A sum of pixels of which one is not trusted lacks counts: it is trusted only if all are.
ImageStack<std::uint8_t> framed_mask(const ScanSource& source, const ScanInfo& info,
                                     const ImageStack<std::uint8_t>& recorded) {
  ImageStack<std::uint8_t> valid(1, info.pattern, 0);
  const Framing framing(info.frame, zero_frequency(source));
  framing.for_each_pixel(
      Box::at({0, 0}, info.frame.stored()), [&](std::int64_t pixel, const auto& all_recorded) {
        std::uint8_t trusted = 1;
        all_recorded([&](std::int64_t i) { trusted = std::min(trusted, recorded.data()[i]); });
        valid.data()[pixel] = trusted;
      });
  return valid;
}

}  // namespace

void set_masks(const ImageStack<double>& recorded, const ScanSource& source, ScanInfo& info) {
  ImageStack<std::uint8_t> mask = recorded.n() > 0
                                      ? checked_mask(recorded)
                                      : ImageStack<std::uint8_t>(1, info.frame.stored(), 1);
  block_beam(source, info.frame, mask);
  info.valid_pixels = framed_mask(source, info, mask);
  if (info.n_trusted() == 0)
    throw InputError(
        "no pixel is valid after cropping and binning; check data.crop, data.bin and "
        "data.beam_stop_radius_px");
  if (info.has_own_masks || std::isfinite(source.saturation_counts) ||
      source.negative_counts == NegativeCounts::ignore)
    info.saturation = max_count(info.type);
}

ImageStack<double> framed_mean(const ImageStack<double>& recorded, const ScanSource& source,
                               const ScanInfo& info) {
  ImageStack<double> image(1, info.pattern);
  const Framing framing(info.frame, zero_frequency(source));
  const Box whole = Box::at({0, 0}, recorded.shape());
  framing.for_each_pixel(whole, [&](std::int64_t pixel, const auto& all_recorded) {
    if (!info.valid_pixels.data()[pixel]) return;
    all_recorded([&](std::int64_t i) {
      for (int n = 0; n < recorded.n(); ++n) {
        const double value = recorded.image(n)[i];
        if (!std::isfinite(value) || value < 0)
          throw InputError(text("pixel (", i / recorded.w(), ", ", i % recorded.w(), ") is ", value,
                                "; counts must be finite and not negative"));
        image.data()[pixel] += value / static_cast<double>(recorded.n());
      }
    });
  });
  return image;
}

ImageStack<double> read_detector_image(const ScanSource& source, const ScanInfo& info,
                                       const std::string& name) {
  const auto file = info.format->open(source, nullptr);
  return framed_mean(file->detector_images(name), source, info);
}

WaveStack read_start_probe(const ScanSource& source, const ScanInfo& info,
                           const std::string& name) {
  return info.format->open(source, nullptr)->start_probe(name);
}

}  // namespace tessera::io
