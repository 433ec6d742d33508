#include "analysis/object_picture.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/optics/host_fft.hpp"

#include "file_contents.hpp"
#include "optics/fourier_tools.hpp"

namespace tessera::analysis {
namespace {

using Complex = std::complex<double>;
constexpr double two_pi = 2 * std::numbers::pi;

bool is_finite(const Complex& value) {
  return std::isfinite(std::norm(value));
}

/// Those of the first object mode, where the file says how many a mode has.
int n_slices_of(const io::File& file, int n_images) {
  const std::optional<deck::Deck> deck = deck_of_result(file);
  return deck ? std::min(deck->object.n_slices, n_images) : n_images;
}

int stride_of_sample(Shape2 whole) {
  return (std::max(whole.h, whole.w) + longest_sample_px - 1) / longest_sample_px;
}

/// The pixels of a stride in a box of object pixels.
Box thinned(const Box& box, int stride) {
  return {{box.begin.y / stride, box.begin.x / stride},
          {(box.end.y + stride - 1) / stride, (box.end.x + stride - 1) / stride}};
}

/// What is not a number cannot be shown, nor tell of a ramp.
void leave_out_not_finite(WaveStack& waves, optics::PixelSet& lit) {
  for (std::size_t r = 0; r < waves.size(); ++r) {
    if (is_finite(waves.data()[r])) continue;
    waves.data()[r] = 0;
    lit.data()[r] = 0;
  }
}

void leave_out_dark(WaveStack& waves, const optics::PixelSet& lit) {
  std::transform(waves.begin(), waves.end(), lit.begin(), waves.begin(),
                 [](const Complex& value, auto is_lit) { return is_lit ? value : Complex{}; });
}

/// Factors of the pixels first, first + 1, ... of a stride along one axis.
std::vector<Complex> turns_back(int first, int n, int stride, int begin, double ramp_per_px,
                                double phase_rad) {
  std::vector<Complex> factors(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    factors[static_cast<std::size_t>(i)] =
        std::polar(1.0, -two_pi * ramp_per_px * ((first + i) * stride - begin) - phase_rad);
  return factors;
}

/// Takes ramp and mean phase out of what ShownObject::raw has read.
void turn_back(WaveStack& waves, const ObjectLook& look, const Box& box, int stride) {
  const auto down = turns_back(box.begin.y, box.height(), stride, look.box.begin.y,
                               look.ramp_per_px.y, look.phase_rad);
  const auto right =
      turns_back(box.begin.x, box.width(), stride, look.box.begin.x, look.ramp_per_px.x, 0);
  for (int y = 0; y < waves.h(); ++y)
    for (int x = 0; x < waves.w(); ++x)
      waves(0, y, x) *= down[static_cast<std::size_t>(y)] * right[static_cast<std::size_t>(x)];
}

/// Every `stride`-th pixel around what is lit, as stored.
struct Sample {
  int stride;
  Box box;  ///< of pixels of that distance
  WaveStack waves;
  optics::PixelSet lit;
};

/// The ramp to about one period in the side of a block, from the power of blocks all over the
/// object: every pixel of them, so that no ramp hides behind the stride of the sample.
Vec2 ramp_of_blocks(const ShownObject& object, const Box& box, const Sample& sample) {
  constexpr int side_px = 256;
  constexpr int n_along = 8;
  const Shape2 block{std::min(side_px, box.height()), std::min(side_px, box.width())};
  ImageStack<double> power(1, block);
  for (int i = 0; i < n_along; ++i)
    for (int j = 0; j < n_along; ++j) {
      const Pixel corner =
          box.begin + Pixel{(box.height() - block.h) * i / std::max(1, n_along - 1),
                            (box.width() - block.w) * j / std::max(1, n_along - 1)};
      WaveStack waves = object.raw(Box::at(corner, block));
      optics::PixelSet lit(1, block);
      for (int y = 0; y < block.h; ++y)
        for (int x = 0; x < block.w; ++x)
          lit(0, y, x) = sample.lit(0, (corner.y + y) / sample.stride - sample.box.begin.y,
                                    (corner.x + x) / sample.stride - sample.box.begin.x);
      leave_out_not_finite(waves, lit);
      leave_out_dark(waves, lit);
      optics::forward_2d(waves);
      std::transform(power.begin(), power.end(), waves.begin(), power.begin(),
                     [](double sum, const Complex& value) { return sum + std::norm(value); });
    }
  const auto bin = static_cast<int>(std::ranges::max_element(power) - power.begin());
  return {optics::frequency(bin / block.w, block.h), optics::frequency(bin % block.w, block.w)};
}

/// A sample sees a ramp but for whole turns from one of its pixels to the next.
double without_alias(double ramp_per_sample, double about_per_px, int stride) {
  return (ramp_per_sample + std::round(about_per_px * stride - ramp_per_sample)) / stride;
}

/// Ramp and mean phase of the lit pixels.
void find_ramp(const ShownObject& object, const Sample& sample, ObjectLook& look) {
  WaveStack inside = sample.waves;
  leave_out_dark(inside, sample.lit);
  const int stride = sample.stride;
  look.ramp_per_px = optics::transform_peak(inside, optics::Samples::image);
  if (stride > 1) {
    const Vec2 about = ramp_of_blocks(object, look.box, sample);
    look.ramp_per_px = {without_alias(look.ramp_per_px.y, about.y, stride),
                        without_alias(look.ramp_per_px.x, about.x, stride)};
  }
  turn_back(inside, look, sample.box, stride);
  Complex sum = 0;
  for (const Complex& value : inside) sum += value;
  look.phase_rad = std::arg(sum);
}

template <class F>
GreyRange range_of(const WaveStack& waves, const optics::PixelSet& lit, const F& f) {
  std::vector<double> values(waves.size());
  std::transform(waves.begin(), waves.end(), values.begin(), f);
  const auto [least, most] = shown_range(values, lit);
  return {least, most};
}

optics::PixelSet lit_pixels(const io::File& file, const WaveStack& probe, int stride) {
  return optics::illuminated_region(object_shape(file), read_points(file, "window_corner_px"),
                                    probe, stride);
}

/// The look, and the sample that it was found from, as it is shown.
ObjectLook look_of(const io::File& file, const WaveStack& probe, std::optional<int> image,
                   Sample& sample) {
  const Shape2 whole = object_shape(file);
  ObjectLook look;
  look.first_image = image.value_or(0);
  look.n_images = image ? 1 : n_slices_of(file, n_object_images(file));
  sample.stride = stride_of_sample(whole);
  optics::PixelSet lit = lit_pixels(file, probe, sample.stride);
  sample.box = optics::bounding_box(lit);
  const auto nothing = [&](const char* why) {
    return InputError(text('"', file.path(), "\": ", why, ", so no pixel can be shown"));
  };
  if (sample.box.empty()) throw nothing("the probe is dark");
  const int stride = sample.stride;
  look.box = intersection({{stride * sample.box.begin.y, stride * sample.box.begin.x},
                           {stride * sample.box.end.y, stride * sample.box.end.x}},
                          Box::at({0, 0}, whole));
  const ShownObject object(file, look);
  sample.waves = object.raw(sample.box, stride);
  sample.lit = optics::cropped(lit, sample.box);
  leave_out_not_finite(sample.waves, sample.lit);
  if (optics::bounding_box(sample.lit).empty()) throw nothing("the object is not finite");
  find_ramp(object, sample, look);
  turn_back(sample.waves, look, sample.box, stride);
  look.amplitude = range_of(sample.waves, sample.lit, [](const Complex& v) { return std::abs(v); });
  look.phase = range_of(sample.waves, sample.lit, wrapped_phase_rad);
  return look;
}

}  // namespace

Shape2 object_shape(const io::File& file) {
  const io::Extents extents = file.wave_extents("object");
  return {static_cast<int>(extents[extents.size() - 2]), static_cast<int>(extents.back())};
}

int n_object_images(const io::File& file) {
  const io::Extents extents = file.wave_extents("object");
  return extents.size() == 3 ? static_cast<int>(extents[0]) : 1;
}

std::string object_image_name(int image, int n_slices, int n_modes) {
  if (n_slices == 0) return text("image ", image + 1);
  if (n_slices == 1) return text("object mode ", image + 1);
  const std::string slice = text("slice ", image % n_slices + 1);
  return n_modes == 1 ? slice : text("object mode ", image / n_slices + 1, ", ", slice);
}

ObjectLook object_look(const io::File& file, const WaveStack& probe, std::optional<int> image) {
  Sample sample;
  return look_of(file, probe, image, sample);
}

// The file outlives this: it need not be owned.
ShownObject::ShownObject(const io::File& file, const ObjectLook& look)
    : source_(std::shared_ptr<const io::File>(std::shared_ptr<const io::File>(), &file), "object"),
      look_(look) {}

WaveStack ShownObject::raw(const Box& box, int stride) const {
  WaveStack object(1, box.shape(), 1.0);
  const int width = (box.width() - 1) * stride + 1;
  constexpr int most_px = 1 << 20;
  const int at_once = stride == 1 ? std::max(1, most_px / width) : 1;
  for (int image = look_.first_image; image < look_.first_image + look_.n_images; ++image)
    for (int y = 0; y < box.height(); y += at_once) {
      const Pixel corner{(box.begin.y + y) * stride, box.begin.x * stride};
      const int n_rows = std::min(at_once, box.height() - y);
      const WaveStack rows = source_.read(Box::at(corner, {n_rows, width}), image, 1);
      for (int i = 0; i < n_rows; ++i)
        for (int x = 0; x < box.width(); ++x) object(0, y + i, x) *= rows(0, i, x * stride);
    }
  return object;
}

WaveStack ShownObject::shown(const Box& box, int stride) const {
  WaveStack waves = raw(box, stride);
  for (Complex& value : waves)
    if (!is_finite(value)) value = 0;
  turn_back(waves, look_, box, stride);
  return waves;
}

ObjectPicture object_picture(const io::File& file, const WaveStack& probe, int stride,
                             std::optional<int> image) {
  Sample sample;
  ObjectPicture picture;
  picture.look = look_of(file, probe, image, sample);
  picture.stride = stride;
  Box box = sample.box;
  if (stride == sample.stride) {
    picture.waves = std::move(sample.waves);
    picture.lit = std::move(sample.lit);
  } else {
    sample = {};
    box = thinned(picture.look.box, stride);
    picture.waves = ShownObject(file, picture.look).raw(box, stride);
    picture.lit = optics::cropped(lit_pixels(file, probe, stride), box);
    leave_out_not_finite(picture.waves, picture.lit);
    turn_back(picture.waves, picture.look, box, stride);
  }
  picture.begin = {stride * box.begin.y, stride * box.begin.x};
  return picture;
}

double wrapped_phase_rad(const Complex& value) {
  return value == Complex{} ? 0 : std::arg(value);
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
