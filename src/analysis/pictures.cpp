#include "analysis/pictures.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/optics/host_fft.hpp"

#include "file_contents.hpp"
#include "io/png.hpp"
#include "object_picture.hpp"

namespace tessera::analysis {
namespace {

using Complex = std::complex<double>;
using Paths = std::vector<std::string>;

class Folder {
 public:
  explicit Folder(const std::string& folder) : folder_(folder) {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error)
      throw InputError(text("cannot make the folder \"", folder, "\" for pictures: ",
                            error.message(), "; choose one that can be written"));
  }
  std::string file(const std::string& name) { return written.emplace_back(folder_ / name); }
  Paths written;

 private:
  std::filesystem::path folder_;
};

std::string value_text(double value, const std::string& unit) {
  return fmt::format("{:.3g}{}", value, unit);
}

double pixel_m(const io::File& file) {
  return file.positive_attribute("/", "object_pixel_m").value_or(0);
}

/// A picture of f(value).
/// @param unit behind the numbers
template <class F>
void write_grey(const std::string& path, const ObjectPicture& object, const GreyRange& range,
                double pixel_m, const std::string& unit, const F& f) {
  std::vector<double> values(object.waves.size());
  std::transform(object.waves.begin(), object.waves.end(), values.begin(), f);
  const io::Legend legend{value_text(range.least, unit), value_text(range.most, unit),
                          pixel_m * object.stride};
  io::write_grey_png(path, object.waves.shape(), values, range.as_pair(), legend);
}

void write_object(const io::File& file, const WaveStack& probe, Folder& folder) {
  constexpr int longest_px = 4096;
  const Shape2 whole = object_shape(file);
  const int stride = (std::max(whole.h, whole.w) + longest_px - 1) / longest_px;
  const ObjectPicture object = object_picture(file, probe, stride);
  write_grey(folder.file("object_amplitude.png"), object, object.look.amplitude, pixel_m(file), "",
             [](const Complex& value) { return std::abs(value); });
  write_grey(folder.file("object_phase.png"), object, object.look.phase, pixel_m(file), " rad",
             wrapped_phase_rad);
}

void write_modes(const WaveStack& probe, double pixel_m, const std::string& path) {
  WaveStack row(1, {probe.h(), probe.w() * probe.n()});
  for (int i = 0; i < probe.n(); ++i)
    for (int y = 0; y < probe.h(); ++y)
      for (int x = 0; x < probe.w(); ++x) row(0, y, i * probe.w() + x) = probe(i, y, x);
  io::write_wave_png(path, row.shape(), std::span(row.data(), row.size()),
                     io::Legend{"-pi rad", "pi rad", pixel_m});
}

void write_result(const io::File& file, Folder& folder) {
  const WaveStack probe = file.read_waves("probe");
  write_object(file, probe, folder);
  write_modes(probe, pixel_m(file), folder.file("probe.png"));
}

void write_mean_pattern(const io::File& file, const ScanContents& contents,
                        const std::string& path) {
  const PatternExtents extents = pattern_extents(file, contents.patterns);
  ImageStack<double> mean(1, extents.pattern);
  for_each_pattern(file, contents.patterns, [&](const double* counts) {
    for (std::int64_t r = 0; r < extents.pattern.size(); ++r)
      mean.data()[r] += counts[r] / static_cast<double>(extents.n);
  });
  if (contents.zero_frequency == "corner") mean = optics::centred(mean);
  // Less than one count in all patterns together is black.
  const double dark = 1 / static_cast<double>(extents.n);
  for (auto& value : mean) value = std::log10(std::max(value, dark));
  const std::span<const double> values(mean.data(), mean.size());
  const auto range = shown_range(values, optics::PixelSet(1, mean.shape(), 1));
  io::write_grey_png(path, mean.shape(), values, range,
                     io::Legend{value_text(std::pow(10, range.first), " counts"),
                                value_text(std::pow(10, range.second), " counts")});
}

/// White dots, y down as in the object.
void write_positions(const std::vector<Vec2>& positions_m, const std::string& path) {
  constexpr int side_px = 512;
  constexpr int border_px = 8;
  Vec2 min = positions_m.front();
  Vec2 max = min;
  for (const Vec2& position : positions_m) {
    min = {std::min(min.y, position.y), std::min(min.x, position.x)};
    max = {std::max(max.y, position.y), std::max(max.x, position.x)};
  }
  const double extent_m = std::max({max.y - min.y, max.x - min.x, 1e-300});
  auto pixel = [&](double distance_m) {
    return border_px + static_cast<int>((side_px - 2 * border_px - 2) * distance_m / extent_m);
  };
  ImageStack<double> dots(1, {side_px, side_px});
  for (const Vec2& position : positions_m)
    for (const Pixel part : {Pixel{0, 0}, Pixel{0, 1}, Pixel{1, 0}, Pixel{1, 1}})
      dots(0, pixel(position.y - min.y) + part.y, pixel(position.x - min.x) + part.x) = 1;
  io::write_grey_png(path, dots.shape(), std::span(dots.data(), dots.size()), std::pair{0.0, 1.0});
}

}  // namespace

std::vector<std::string> write_pictures(const std::string& path, const std::string& folder) {
  if (!is_deck(path)) {
    const io::File file = io::File::open(path);
    if (is_result(file)) {
      Folder pictures(folder);
      write_result(file, pictures);
      return pictures.written;
    }
  }
  const ScanContents contents = scan_contents(path);
  const io::File file = io::File::open(contents.path, contents.links);
  Folder pictures(folder);
  write_mean_pattern(file, contents, pictures.file("pattern_mean.png"));
  if (contents.positions)
    write_positions(read_positions(file, contents), pictures.file("positions.png"));
  return pictures.written;
}

}  // namespace tessera::analysis
