#include "io/png.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include <png.h>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

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
std::array<std::uint8_t, 3> colour(double hue, double brightness) {
  std::array<std::uint8_t, 3> rgb{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double turn = std::fmod(hue + 1.0 - static_cast<double>(i) / 3, 1.0);
    const double ramp = std::abs(6 * turn - 3) - 1;
    rgb[i] = level(brightness * std::clamp(ramp, 0.0, 1.0));
  }
  return rgb;
}

/// A grey canvas for the curve.
class Canvas {
 public:
  explicit Canvas(Shape2 shape)
      : shape_(shape), pixels_(static_cast<std::size_t>(shape.size()), 255) {}
  void dot(int y, int x, std::uint8_t grey) {
    if (y >= 0 && y < shape_.h && x >= 0 && x < shape_.w)
      pixels_[static_cast<std::size_t>(y) * shape_.w + x] = grey;
  }
  void line(Pixel from, Pixel to, std::uint8_t grey) {
    const int steps = std::max({1, std::abs(to.y - from.y), std::abs(to.x - from.x)});
    for (int i = 0; i <= steps; ++i)
      dot(from.y + (to.y - from.y) * i / steps, from.x + (to.x - from.x) * i / steps, grey);
  }
  /// Digits, '-' and 'e', doubled from 3 x 5 dots.
  void write(Pixel corner, const std::string& label) {
    constexpr std::string_view known = "0123456789-e";
    // Five rows of three dots per character, top row in the highest bits.
    constexpr std::array<int, 12> dots{075557, 026227, 071747, 071717, 055711, 074717,
                                       074757, 071111, 075757, 075717, 000700, 075743};
    for (const char c : label) {
      const std::size_t which = known.find(c);
      for (int i = 0; which != std::string_view::npos && i < 60; ++i) {
        const int y = i / 6;
        const int x = i % 6;
        if (dots[which] >> (14 - 3 * (y / 2) - x / 2) & 1) dot(corner.y + y, corner.x + x, 0);
      }
      corner.x += 8;
    }
  }
  void save(const std::string& path) const { write_png(path, shape_, PNG_FORMAT_GRAY, pixels_); }

 private:
  Shape2 shape_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace

void write_grey_png(const std::string& path, Shape2 shape, std::span<const double> values,
                    std::optional<std::pair<double, double>> range) {
  const auto [black, white] =
      range.value_or(std::pair(quantile(values, 0.005), quantile(values, 0.995)));
  const double span = white > black ? white - black : 1;
  std::vector<std::uint8_t> pixels(values.size());
  std::transform(values.begin(), values.end(), pixels.begin(),
                 [&, darkest = black](double v) { return level((v - darkest) / span); });
  write_png(path, shape, PNG_FORMAT_GRAY, pixels);
}

void write_wave_png(const std::string& path, Shape2 shape,
                    std::span<const std::complex<double>> values) {
  std::vector<double> amplitudes(values.size());
  std::transform(values.begin(), values.end(), amplitudes.begin(),
                 [](std::complex<double> v) { return std::abs(v); });
  const double brightest = quantile(amplitudes, 0.995);
  std::vector<std::uint8_t> pixels;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double hue = std::arg(values[i]) / (2 * std::numbers::pi) + 1;
    const auto rgb = colour(std::fmod(hue, 1.0), brightest > 0 ? amplitudes[i] / brightest : 0);
    pixels.insert(pixels.end(), rgb.begin(), rgb.end());
  }
  write_png(path, shape, PNG_FORMAT_RGB, pixels);
}

void write_curve_png(const std::string& path, std::span<const double> values) {
  const Shape2 shape{400, 640};
  const Box plot{{12, 48}, {380, 628}};
  std::vector<double> shown;
  std::copy_if(values.begin(), values.end(), std::back_inserter(shown),
               [](double v) { return v > 0 && std::isfinite(v); });
  if (shown.empty()) shown.push_back(1);
  const auto [min, max] = std::minmax_element(shown.begin(), shown.end());
  const int bottom = static_cast<int>(std::floor(std::log10(*min)));
  const int top = std::max(bottom + 1, static_cast<int>(std::ceil(std::log10(*max))));

  const auto row = [&](double value) {
    const double height = (std::log10(value) - bottom) / (top - bottom);
    return plot.end.y - static_cast<int>(std::lround(height * plot.height()));
  };
  const auto column = [&](std::size_t i) {
    const auto last = static_cast<double>(std::max<std::size_t>(2, values.size()) - 1);
    return plot.begin.x + static_cast<int>(static_cast<double>(i) / last * plot.width());
  };
  Canvas canvas(shape);
  for (int decade = bottom; decade <= top; ++decade) {
    const int y = row(std::pow(10.0, decade));
    canvas.line({y, plot.begin.x}, {y, plot.end.x}, 200);
    canvas.write({y - 5, 4}, text("1e", decade));
  }
  canvas.write({plot.end.y + 6, plot.begin.x}, "1");
  const std::string last = text(values.size());
  canvas.write({plot.end.y + 6, plot.end.x - 8 * static_cast<int>(last.size())}, last);
  std::optional<Pixel> previous;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]) || values[i] <= 0) continue;
    const Pixel point{row(values[i]), column(i)};
    canvas.line(previous.value_or(point), point, 0);
    previous = point;
  }
  canvas.save(path);
}

}  // namespace tessera::io
