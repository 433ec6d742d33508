#include "io/png.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <vector>

#include <png.h>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "canvas.hpp"

namespace tessera::io {
namespace {

void write_png(const std::string& path, Shape2 shape, png_uint_32 format,
               const std::vector<std::uint8_t>& pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(shape.w);
  image.height = static_cast<png_uint_32>(shape.h);
  image.format = format;
  if (png_image_write_to_file(&image, path.c_str(), 0, pixels.data(), 0, nullptr) == 0)
    throw SystemError(text("picture \"", path, "\" cannot be written: ", image.message));
}

/// 0 to 255 for 0 to 1, cut off outside; 0 for NaN.
std::uint8_t level(double value) {
  return value > 0 ? static_cast<std::uint8_t>(std::lround(255 * std::min(value, 1.0))) : 0;
}

/// The value below which `fraction` of the finite values lie.
double quantile(std::span<const double> values, double fraction) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
               [](double v) { return std::isfinite(v); });
  if (finite.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(fraction * static_cast<double>(finite.size() - 1));
  std::nth_element(finite.begin(), finite.begin() + at, finite.end());
  return finite[static_cast<std::size_t>(at)];
}

/// Fully saturated colour of `hue` in [0, 1), scaled by `brightness`.
Rgb colour(double hue, double brightness) {
  Rgb rgb{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double turn = std::fmod(hue + 1.0 - static_cast<double>(i) / 3, 1.0);
    const double ramp = std::abs(6 * turn - 3) - 1;
    rgb[i] = level(brightness * std::clamp(ramp, 0.0, 1.0));
  }
  return rgb;
}

/// A length in words: 5e-7 m is "500 nm".
std::string length_text(double length_m) {
  constexpr std::array<std::pair<const char*, double>, 5> units{
      {{"m", 1}, {"mm", 1e-3}, {"um", 1e-6}, {"nm", 1e-9}, {"pm", 1e-12}}};
  // A length that is not quite 1 in a unit is 1, not 1000 of the next.
  const auto* unit = std::ranges::find_if(
      units, [&](const auto& candidate) { return length_m > 0.999 * candidate.second; });
  if (unit == units.end()) --unit;
  return text(std::round(length_m / unit->second * 1e3) / 1e3, ' ', unit->first);
}

/// The greatest 1, 2 or 5 times a power of ten that is not above `limit`.
double round_length(double limit) {
  const double power = std::pow(10.0, std::floor(std::log10(limit)));
  for (const double factor : {5.0, 2.0})
    if (factor * power <= limit) return factor * power;
  return power;
}

/// The picture at the upper left, the colour bar on its right, the scale bar below.
Canvas with_legend(Shape2 shape, const std::vector<Rgb>& pixels, const Legend& legend,
                   const std::function<Rgb(double)>& bar_colour) {
  const int dot = std::max(2, std::max(shape.h, shape.w) / 256);
  const int gap = 3 * dot;
  const int letter_w = Canvas::letter_width_dots * dot;
  const int letter_h = Canvas::letter_height_dots * dot;
  const Shape2 bar{std::max(shape.h, 3 * letter_h), 2 * gap};
  const int scale_h = legend.pixel_m > 0 ? 2 * gap + 3 * dot + letter_h : 0;
  const auto letters = static_cast<int>(std::max(legend.least.size(), legend.most.size()));
  Canvas canvas({bar.h + scale_h, shape.w + 3 * gap + bar.w + letters * letter_w});
  for (int y = 0; y < shape.h; ++y)
    for (int x = 0; x < shape.w; ++x)
      canvas.dot({y, x}, pixels[static_cast<std::size_t>(y) * shape.w + x]);

  const Pixel bar_at{0, shape.w + gap};
  for (int y = 0; y < bar.h; ++y)
    canvas.fill(Box::at(bar_at + Pixel{y, 0}, {1, bar.w}), bar_colour(1 - (y + 0.5) / bar.h));
  const int labels_x = bar_at.x + bar.w + gap;
  canvas.write({dot, labels_x}, legend.most, dot);
  canvas.write({bar.h - letter_h - dot, labels_x}, legend.least, dot);

  if (legend.pixel_m <= 0) return canvas;
  const double length_m = round_length(0.4 * std::min(shape.h, shape.w) * legend.pixel_m);
  const int length_px = static_cast<int>(std::lround(length_m / legend.pixel_m));
  const Pixel scale_at{bar.h + gap, 0};
  canvas.fill(Box::at(scale_at, {2 * dot, length_px}), {0, 0, 0});
  canvas.write(scale_at + Pixel{2 * dot + gap, dot}, length_text(length_m), dot);
  return canvas;
}

}  // namespace

void write_grey_png(const std::string& path, Shape2 shape, std::span<const double> values,
                    std::optional<std::pair<double, double>> range,
                    const std::optional<Legend>& legend) {
  const auto [black, white] =
      range.value_or(std::pair(quantile(values, 0.005), quantile(values, 0.995)));
  const double span = white > black ? white - black : 1;
  std::vector<std::uint8_t> pixels(values.size());
  std::transform(values.begin(), values.end(), pixels.begin(),
                 [&, darkest = black](double v) { return level((v - darkest) / span); });
  if (!legend) return write_png(path, shape, PNG_FORMAT_GRAY, pixels);
  const auto grey = [](std::uint8_t value) { return Rgb{value, value, value}; };
  std::vector<Rgb> rgb(pixels.size());
  std::ranges::transform(pixels, rgb.begin(), grey);
  write_canvas_png(path,
                   with_legend(shape, rgb, *legend, [&](double t) { return grey(level(t)); }));
}

void write_wave_png(const std::string& path, Shape2 shape,
                    std::span<const std::complex<double>> values,
                    const std::optional<Legend>& legend) {
  std::vector<double> amplitudes(values.size());
  std::transform(values.begin(), values.end(), amplitudes.begin(),
                 [](std::complex<double> v) { return std::abs(v); });
  const double brightest = quantile(amplitudes, 0.995);
  std::vector<Rgb> pixels;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double hue = std::arg(values[i]) / (2 * std::numbers::pi) + 1;
    pixels.push_back(colour(std::fmod(hue, 1.0), brightest > 0 ? amplitudes[i] / brightest : 0));
  }
  const auto bar_colour = [](double t) { return colour(std::fmod(t + 0.5, 1.0), 1); };
  if (legend) return write_canvas_png(path, with_legend(shape, pixels, *legend, bar_colour));
  std::vector<std::uint8_t> bytes;
  for (const Rgb& pixel : pixels) bytes.insert(bytes.end(), pixel.begin(), pixel.end());
  write_png(path, shape, PNG_FORMAT_RGB, bytes);
}

void write_canvas_png(const std::string& path, const Canvas& canvas) {
  write_png(path, canvas.shape(), PNG_FORMAT_RGB, canvas.bytes());
}

}  // namespace tessera::io
