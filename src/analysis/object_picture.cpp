#include "analysis/object_picture.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "file_contents.hpp"
#include "optics/fourier_tools.hpp"

namespace tessera::analysis {
namespace {

using Complex = std::complex<double>;

/// Those of the first object mode, where the file says how many a mode has.
std::int64_t n_slices_of(const io::File& file, std::int64_t n_images) {
  const std::optional<deck::Deck> deck = deck_of_result(file);
  return deck ? std::min<std::int64_t>(deck->object.n_slices, n_images) : n_images;
}

/// The image, or the product of the slices, at every `stride`-th pixel: blocks are not averaged,
/// for a phase ramp would darken them.
/// @param box of these pixels
WaveStack read_thinned_object(const io::File& file, const Box& box, int stride,
                              std::optional<int> image) {
  io::Extents extents = file.wave_extents("object");
  const bool has_slices = extents.size() == 3;
  const std::int64_t first = image.value_or(0);
  const std::int64_t n_slices = has_slices && !image ? n_slices_of(file, extents[0]) : 1;
  const std::int64_t w = object_shape(file).w;
  WaveStack object(1, box.shape(), 1.0);
  std::vector<Complex> row(w);
  for (std::int64_t slice = first; slice < first + n_slices; ++slice)
    for (int y = 0; y < object.h(); ++y) {
      io::Extents begin{std::int64_t{box.begin.y + y} * stride, 0};
      io::Extents count{1, w};
      if (has_slices) begin.insert(begin.begin(), slice);
      if (has_slices) count.insert(count.begin(), 1);
      file.read_slab_alone("object", begin, count, io::ElementType::complex128, row.data());
      for (int x = 0; x < object.w(); ++x)
        object(0, y, x) *= row[static_cast<std::size_t>(box.begin.x + x) * stride];
    }
  return object;
}

/// Takes out the ramp and the mean phase that the region shows.
void remove_ramp(WaveStack& object, const optics::PixelSet& region) {
  WaveStack inside = object;
  std::transform(inside.begin(), inside.end(), region.begin(), inside.begin(),
                 [](const Complex& value, auto lit) { return lit ? value : Complex{}; });
  const Vec2 ramp = optics::transform_peak(inside, optics::Samples::image);
  Complex mean = 0;
  for (int y = 0; y < object.h(); ++y)
    for (int x = 0; x < object.w(); ++x) {
      const Complex factor = std::polar(1.0, -2 * std::numbers::pi * (ramp.y * y + ramp.x * x));
      object(0, y, x) *= factor;
      mean += inside(0, y, x) * factor;
    }
  const Complex turn = std::polar(1.0, -std::arg(mean));
  for (auto& value : object) value *= turn;
}

/// What is not a number cannot be shown, nor tell of a ramp.
void leave_out_not_finite(ObjectPicture& picture) {
  for (std::size_t r = 0; r < picture.waves.size(); ++r) {
    Complex& value = picture.waves.data()[r];
    if (std::isfinite(std::norm(value))) continue;
    value = 0;
    picture.lit.data()[r] = 0;
  }
}

}  // namespace

Shape2 object_shape(const io::File& file) {
  const io::Extents extents = file.wave_extents("object");
  return {static_cast<int>(extents[extents.size() - 2]), static_cast<int>(extents.back())};
}

ObjectPicture object_picture(const io::File& file, const WaveStack& probe, int stride,
                             std::optional<int> image) {
  const Shape2 whole = object_shape(file);
  const optics::PixelSet lit =
      optics::illuminated_region(whole, read_points(file, "window_corner_px"), probe, stride);
  const Box box = optics::bounding_box(lit);
  const auto nothing = [&](const char* why) {
    return InputError(text('"', file.path(), "\": ", why, ", so no pixel can be shown"));
  };
  if (box.empty()) throw nothing("the probe is dark");
  ObjectPicture picture{read_thinned_object(file, box, stride, image),
                        optics::cropped(lit, box),
                        {stride * box.begin.y, stride * box.begin.x},
                        stride};
  leave_out_not_finite(picture);
  if (optics::bounding_box(picture.lit).empty()) throw nothing("the object is not finite");
  remove_ramp(picture.waves, picture.lit);
  return picture;
}

std::pair<double, double> shown_range(std::span<const double> values, const optics::PixelSet& lit) {
  std::vector<double> shown;
  for (std::size_t r = 0; r < values.size(); ++r)
    if (lit.data()[r]) shown.push_back(values[r]);
  const auto quantile = [&](double q) {
    const auto at =
        shown.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(shown.size() - 1));
    std::nth_element(shown.begin(), at, shown.end());
    return *at;
  };
  const double least = quantile(0.005);
  return {least, quantile(0.995)};
}

}  // namespace tessera::analysis
