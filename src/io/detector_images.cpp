#include "detector_images.hpp"

#include <algorithm>
#include <cmath>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "framing.hpp"
#include "stored_patterns.hpp"

namespace tessera::io {
namespace {

/// (y, x), 1 = trust.
ImageStack<std::uint8_t> read_scan_mask(const File& file, const std::string& name, Shape2 shape) {
  const std::vector<double> values = file.read_doubles(name);
  ImageStack<std::uint8_t> mask(1, shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0 && values[i] != 1)
      throw InputError(text("pixel (", i / shape.w, ", ", i % shape.w, ") is ", values[i],
                            "; it must be 1 (trust) or 0"));
    mask.data()[i] = static_cast<std::uint8_t>(values[i]);
  }
  if (std::count(mask.begin(), mask.end(), 1) == 0)
    throw InputError("no pixel is valid; 1 means trust, 0 means bad");
  return mask;
}

void block_beam(const ScanSource& source, ImageStack<std::uint8_t>& mask) {
  const bool centred = source.zero_frequency_centred;
  const auto distance = [&](int i, int n) { return centred ? i - n / 2 : frequency_index(i, n); };
  for (int y = 0; y < mask.h(); ++y)
    for (int x = 0; x < mask.w(); ++x)
      if (std::hypot(distance(y, mask.h()), distance(x, mask.w())) < source.beam_stop_radius_px)
        mask(0, y, x) = 0;
}

double greatest_count(PatternType type) {
  double greatest = 0;
  with_type(type, [&](auto zero) {
    greatest = static_cast<double>(std::numeric_limits<decltype(zero)>::max());
  });
  return greatest;
}

/// A sum of pixels of which one is not trusted lacks counts: it is trusted only if all are.
ImageStack<std::uint8_t> framed_mask(const ScanSource& source, const ScanInfo& info,
                                     const ImageStack<std::uint8_t>& recorded) {
  ImageStack<std::uint8_t> valid(1, info.pattern, 0);
  const Framing framing(info.frame, source.zero_frequency_centred);
  framing.for_each_pixel(
      Box::at({0, 0}, info.frame.recorded), [&](std::int64_t pixel, const auto& all_recorded) {
        std::uint8_t trusted = 1;
        all_recorded([&](std::int64_t i) { trusted = std::min(trusted, recorded.data()[i]); });
        valid.data()[pixel] = trusted;
      });
  return valid;
}

}  // namespace

std::string shape_text(const Extents& extents) {
  std::vector<std::string> sizes;
  for (const std::int64_t n : extents) sizes.push_back(text(n));
  return text('(', joined(sizes), ')');
}

void read_masks(const File& file, const ScanSource& source, ScanInfo& info) {
  const Shape2 shape = info.frame.recorded;
  ImageStack<std::uint8_t> recorded(1, shape, 1);
  if (source.valid_pixels) {
    const Extents extents = file.info(*source.valid_pixels).extents;
    info.has_own_masks = extents == file.info(source.patterns).extents;
    if (!info.has_own_masks && extents != Extents{shape.h, shape.w})
      throw InputError(text("shape ", shape_text(extents), "; it must be that of a pattern, (",
                            shape.h, ", ", shape.w, "), or of all patterns, ",
                            shape_text(file.info(source.patterns).extents)));
    if (!info.has_own_masks) recorded = read_scan_mask(file, *source.valid_pixels, shape);
  }
  block_beam(source, recorded);
  info.valid_pixels = framed_mask(source, info, recorded);
  if (std::count(info.valid_pixels.begin(), info.valid_pixels.end(), 1) == 0)
    throw InputError(
        "no pixel is valid after cropping and binning; check data.crop, data.bin and "
        "data.beam_stop_radius_px");
  if (info.has_own_masks || std::isfinite(source.saturation_counts))
    info.saturation = greatest_count(info.type);
}

ImageStack<double> read_detector_image(const ScanSource& source, const ScanInfo& info,
                                       const std::string& dataset) {
  const File file = File::open(source.path);
  const Shape2 shape = info.frame.recorded;
  const Extents extents = file.info(dataset).extents;
  const std::size_t n_axes = extents.size();
  if (n_axes < 2 || n_axes > 3 || extents[n_axes - 2] != shape.h || extents[n_axes - 1] != shape.w)
    throw InputError(text("shape ", shape_text(extents), "; it must be that of a pattern, (",
                          shape.h, ", ", shape.w, "), or (n, ", shape.h, ", ", shape.w, ')'));
  const std::vector<double> values = file.read_doubles(dataset);
  const std::int64_t n_images = n_axes == 3 ? extents[0] : 1;
  ImageStack<double> image(1, info.pattern);
  const Framing framing(info.frame, source.zero_frequency_centred);
  framing.for_each_pixel(Box::at({0, 0}, shape), [&](std::int64_t pixel, const auto& all_recorded) {
    if (!info.valid_pixels.data()[pixel]) return;
    all_recorded([&](std::int64_t i) {
      for (std::int64_t n = 0; n < n_images; ++n) {
        const double value = values[static_cast<std::size_t>(n * shape.size() + i)];
        if (!std::isfinite(value) || value < 0)
          throw InputError(text("pixel (", i / shape.w, ", ", i % shape.w, ") is ", value,
                                "; counts must be finite and not negative"));
        image.data()[pixel] += value / static_cast<double>(n_images);
      }
    });
  });
  return image;
}

}  // namespace tessera::io
