#include "analysis/terminal_view.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "tessera/base/error.hpp"
#include "tessera/base/naming.hpp"
#include "tessera/base/text.hpp"

#include "file_contents.hpp"
#include "object_picture.hpp"

namespace tessera::analysis {
namespace {

using Complex = std::complex<double>;

/// Brightnesses, 0 to 1; negative: nothing is there.
using Picture = ImageStack<double>;

/// A character shows two pixels, one above the other: upper half block, its colour and that behind
/// it; or, without colours, a shade of both.
std::string rows_of(const Picture& picture, int row, const Terminal& terminal) {
  const auto at = [&](int y, int x) { return y < picture.h() ? picture(0, y, x) : -1; };
  const auto grey = [](double value) { return 232 + static_cast<int>(std::lround(23 * value)); };
  constexpr std::array shades{" ", "░", "▒", "▓", "█"};
  std::string line;
  for (int x = 0; x < picture.w(); ++x) {
    const double upper = at(2 * row, x);
    const double lower = at(2 * row + 1, x);
    if (!terminal.has_colours)
      line += shades[static_cast<std::size_t>(
          std::lround(2 * (std::max(0.0, upper) + std::max(0.0, lower))))];
    else if (upper < 0 && lower < 0)
      line += "\x1b[0m ";
    else if (upper < 0)
      line += fmt::format("\x1b[0;38;5;{}m▄", grey(lower));
    else if (lower < 0)
      line += fmt::format("\x1b[0;38;5;{}m▀", grey(upper));
    else
      line += fmt::format("\x1b[38;5;{};48;5;{}m▀", grey(upper), grey(lower));
  }
  return terminal.has_colours ? line + "\x1b[0m" : line;
}

/// f of the lit pixels between black and white, as the mean of what a pixel of `columns` stands
/// for.
template <class F>
Picture shrunk(const ObjectPicture& object, int columns, std::pair<double, double>& range,
               const F& f) {
  const Shape2 from = object.waves.shape();
  std::vector<double> values(object.waves.size());
  std::transform(object.waves.begin(), object.waves.end(), values.begin(), f);
  range = shown_range(values, object.lit);
  const double span = range.second > range.first ? range.second - range.first : 1;
  const double step = std::max(1.0, static_cast<double>(from.w) / columns);
  Picture picture(1, {std::max(1, static_cast<int>(from.h / step)),
                      std::max(1, static_cast<int>(from.w / step))});
  for (int y = 0; y < picture.h(); ++y)
    for (int x = 0; x < picture.w(); ++x) {
      double sum = 0;
      int n = 0;
      for (int v = static_cast<int>(y * step); v < std::min<double>(from.h, (y + 1) * step); ++v)
        for (int u = static_cast<int>(x * step); u < std::min<double>(from.w, (x + 1) * step);
             ++u) {
          const auto r = static_cast<std::size_t>(v) * static_cast<std::size_t>(from.w) +
                         static_cast<std::size_t>(u);
          if (!object.lit.data()[r]) continue;
          sum += values[r];
          ++n;
        }
      picture(0, y, x) = n == 0 ? -1 : std::clamp((sum / n - range.first) / span, 0.0, 1.0);
    }
  return picture;
}

std::string object_view(const io::File& file, const Terminal& terminal) {
  constexpr int gap = 2;
  constexpr int longest_px = 2048;
  const int columns = std::max(8, (terminal.columns - gap) / 2);
  const Shape2 whole = object_shape(file);
  const int stride = (std::max(whole.h, whole.w) + longest_px - 1) / longest_px;
  const ObjectPicture object = object_picture(file, file.read_waves("probe"), stride);
  std::pair<double, double> radians;
  std::pair<double, double> amplitudes;
  const Picture phase =
      shrunk(object, columns, radians, [](const Complex& value) { return std::arg(value); });
  const Picture amplitude =
      shrunk(object, columns, amplitudes, [](const Complex& value) { return std::abs(value); });
  const std::string title =
      fmt::format("phase {:.3g} to {:.3g} rad", radians.first, radians.second);
  std::string view =
      fmt::format("{:<{}}amplitude {:.3g} to {:.3g}\n", title,
                  std::max<std::size_t>(static_cast<std::size_t>(phase.w()), title.size()) + gap,
                  amplitudes.first, amplitudes.second);
  for (int row = 0; 2 * row < phase.h(); ++row)
    view += rows_of(phase, row, terminal) + std::string(gap, ' ') +
            rows_of(amplitude, row, terminal) + '\n';
  return view;
}

/// Half blocks, which need no colours: where the curve is, from the value before to this one.
std::string curve_view(const std::vector<double>& errors, const Terminal& terminal) {
  constexpr int rows = 8;
  constexpr int margin = 11;
  double least = std::numeric_limits<double>::infinity();
  double greatest = 0;
  for (const double error : errors)
    if (std::isfinite(error) && error > 0) {
      least = std::min(least, error);
      greatest = std::max(greatest, error);
    }
  if (!(greatest > 0)) return "";
  const int columns =
      std::clamp(static_cast<int>(std::ssize(errors)), 1, std::max(8, terminal.columns - margin));
  const double decades = std::max(1e-9, std::log10(greatest / least));
  const auto height_of = [&](int x) {
    const auto i =
        static_cast<std::size_t>(columns == 1 ? 0 : x * (std::ssize(errors) - 1) / (columns - 1));
    if (!std::isfinite(errors[i]) || errors[i] <= 0) return -1;
    return static_cast<int>(
        std::lround((2 * rows - 1) * std::log10(greatest / errors[i]) / decades));
  };
  ImageStack<std::uint8_t> dots(1, {2 * rows, columns});
  for (int x = 0; x < columns; ++x) {
    const int here = height_of(x);
    if (here < 0) continue;
    const int before = x == 0 || height_of(x - 1) < 0 ? here : height_of(x - 1);
    const int step = before < here ? 1 : -1;
    for (int y = before == here ? here : before + step; y != here; y += step) dots(0, y, x) = 1;
    dots(0, here, x) = 1;
  }
  std::string view;
  for (int row = 0; row < rows; ++row) {
    const bool ends = row == 0 || row == rows - 1;
    view += ends ? fmt::format("{:>9.3g} ", row == 0 ? greatest : least) : std::string(10, ' ');
    for (int x = 0; x < columns; ++x) {
      const bool upper = dots(0, 2 * row, x) != 0;
      const bool lower = dots(0, 2 * row + 1, x) != 0;
      view += upper ? (lower ? "█" : "▀") : (lower ? "▄" : " ");
    }
    view += '\n';
  }
  return view + fmt::format("{:>10}error E, epochs 1 to {}\n", "", errors.size());
}

}  // namespace

std::string terminal_view(const std::string& path, const Terminal& terminal) {
  return naming_file(path, [&] {
    if (is_deck(path) || !is_result(io::File::open(path)))
      throw InputError(text("--view draws results, and \"", path,
                            "\" is none (datasets object, probe); --png draws scans, too"));
    const io::File file = io::File::open(path);
    std::string view = object_view(file, terminal);
    if (file.has("history/error")) view += curve_view(file.read_doubles("history/error"), terminal);
    return view;
  });
}

}  // namespace tessera::analysis
