#include <algorithm>
#include <array>
#include <complex>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/optics/host_fft.hpp"

#include "analysis/object_picture.hpp"
#include "report/beam_along_z.hpp"
#include "report/encoded_picture.hpp"
#include "report/unwrapped_phase.hpp"
#include "sections.hpp"

namespace tessera::report {
namespace {

using Complex = std::complex<double>;

template <class Values, class F>
Json picture_of(Shape2 shape, const Values& values, const F& f) {
  std::vector<double> shown(static_cast<std::size_t>(shape.size()));
  std::transform(values, values + shape.size(), shown.begin(), f);
  return encoded_picture(shape, shown);
}

double amplitude(const Complex& value) {
  return std::abs(value);
}
double phase_rad(const Complex& value) {
  return std::arg(value);
}

/// The least distance of pixels that leaves no more than `max_pixels`.
int stride_for(std::int64_t n_pixels, std::int64_t max_pixels) {
  int stride = 1;
  while (n_pixels > max_pixels * stride * stride) ++stride;
  return stride;
}

WaveStack thinned(const WaveStack& waves, int stride) {
  WaveStack out(waves.n(), {(waves.h() + stride - 1) / stride, (waves.w() + stride - 1) / stride});
  for (int i = 0; i < out.n(); ++i)
    for (int y = 0; y < out.h(); ++y)
      for (int x = 0; x < out.w(); ++x) out(i, y, x) = waves(i, y * stride, x * stride);
  return out;
}

double power_of(const WaveStack& waves, int image) {
  return std::transform_reduce(waves.image(image), waves.image(image + 1), 0.0, std::plus<>(),
                               [](const Complex& value) { return std::norm(value); });
}

Json along_z_section(const WaveStack& modes, const Result& result) {
  const BeamAlongZ beam = beam_along_z(modes, result.pixel_m, result.wavelength_m);
  const auto as_it_is = [](double value) { return value; };
  return {{"z_m", {beam.z_m.front(), beam.z_m.back()}},
          {"sharpest_m", beam.sharpest_m},
          {"y", picture_of(beam.y.shape(), beam.y.data(), as_it_is)},
          {"x", picture_of(beam.x.shape(), beam.x.data(), as_it_is)}};
}

/// f of the lit pixels; the others have no value.
template <class F>
Json lit_picture(const analysis::ObjectPicture& object, const F& f) {
  std::vector<double> values(object.waves.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t r = 0; r < values.size(); ++r)
    if (object.lit.data()[r]) values[r] = f(r);
  return encoded_picture(object.waves.shape(), values);
}

Json lit_pictures(const analysis::ObjectPicture& object) {
  const Complex* waves = object.waves.data();
  return {{"amplitude", lit_picture(object, [&](std::size_t r) { return amplitude(waves[r]); })},
          {"phase", lit_picture(object, [&](std::size_t r) { return phase_rad(waves[r]); })}};
}

/// Whole turns to be added to the phase; null if there are none.
Json turns_picture(const analysis::ObjectPicture& object) {
  ImageStack<double> phases(1, object.waves.shape());
  std::transform(object.waves.begin(), object.waves.end(), phases.begin(), phase_rad);
  const std::vector<int> turns = turns_of(phases, object.lit);
  bool has_turns = false;
  for (std::size_t r = 0; r < turns.size(); ++r)
    has_turns = has_turns || (object.lit.data()[r] && turns[r] != 0);
  if (!has_turns) return nullptr;
  return lit_picture(object, [&](std::size_t r) { return turns[r]; });
}

}  // namespace

Json object_section(const Result& result, const WaveStack& probe, std::int64_t max_pixels) {
  const int n_images = analysis::n_object_images(result.file);
  const int n_slices = result.deck ? result.deck->object.n_slices : 0;
  const int n_modes = result.deck ? result.deck->object.n_modes : 0;
  const int n_pictures = n_images > 1 ? 1 + n_images : 1;
  const Shape2 whole = analysis::object_shape(result.file);
  const int stride = stride_for(n_pictures * whole.size(), max_pixels);
  const analysis::ObjectPicture object = analysis::object_picture(result.file, probe, stride);
  Json section = {{"whole_px", {whole.h, whole.w}},
                  {"begin_px", {object.begin.y, object.begin.x}},
                  {"stride", stride}};
  section.update(lit_pictures(object));
  if (const Json turns = turns_picture(object); !turns.is_null()) section["turns"] = turns;
  for (int i = 0; n_images > 1 && i < n_images; ++i) {
    Json image = {{"name", analysis::object_image_name(i, n_slices, n_modes)}};
    image.update(lit_pictures(analysis::object_picture(result.file, probe, stride, i)));
    section["images"].push_back(image);
  }
  return section;
}

Json probe_section(const Result& result, const WaveStack& probe, std::int64_t max_pixels) {
  const int n_modes = result.deck ? std::min(result.deck->probe.n_modes, probe.n()) : probe.n();
  WaveStack modes(n_modes, probe.shape());
  std::copy(probe.begin(), probe.begin() + std::ssize(modes), modes.begin());
  double total = 0;
  for (int i = 0; i < n_modes; ++i) total += power_of(modes, i);
  const int stride = stride_for(std::ssize(probe), max_pixels);
  const WaveStack shown = thinned(probe, stride);
  Json images = Json::array();
  for (int i = 0; i < probe.n(); ++i) {
    const bool is_opr = i >= n_modes;
    Json image = {{"name", is_opr ? text("OPR mode ", i - n_modes + 1) : text("mode ", i + 1)}};
    image["power_counts"] = power_of(probe, i);
    if (!is_opr) image["share"] = power_of(probe, i) / total;
    image["amplitude"] = picture_of(shown.shape(), shown.image(i), amplitude);
    image["phase"] = picture_of(shown.shape(), shown.image(i), phase_rad);
    images.push_back(image);
  }
  Json section = {{"shape_px", {probe.h(), probe.w()}},
                  {"stride", stride},
                  {"power_counts", total},
                  {"images", images}};
  if (result.pixel_m > 0 && result.wavelength_m > 0)
    section["along_z"] = along_z_section(modes, result);
  return section;
}

Json background_section(const Result& result) {
  const std::string name = "parameters/background";
  if (!result.file.has(name)) return nullptr;
  WaveStack counts = result.file.read_waves(name);
  const bool far_field = !result.deck || result.deck->experiment.propagation == "far_field";
  if (far_field) counts = optics::centred(counts);
  return picture_of(counts.shape(), counts.data(),
                    [](const Complex& value) { return value.real(); });
}

Json worst_patterns_section(const Result& result) {
  const std::string group = "worst_patterns/";
  if (!result.file.has(group + "measured")) return nullptr;
  const WaveStack measured = result.file.read_waves(group + "measured");
  const WaveStack expected = result.file.read_waves(group + "expected");
  const std::vector<double> position = result.file.read_doubles(group + "position");
  const std::vector<double> error = result.file.read_doubles(group + "error");
  const std::vector<double> cost = result.file.read_doubles(group + "cost");
  const auto n = static_cast<std::size_t>(measured.n());
  if (expected.n() != measured.n() || expected.shape() != measured.shape() ||
      std::ranges::any_of(std::array{position.size(), error.size(), cost.size()},
                          [&](std::size_t size) { return size != n; }))
    throw InputError(text('"', result.file.path(), "\": the datasets of \"", group,
                          "\" are of different lengths"));
  const auto root = [](const Complex& counts) { return std::sqrt(counts.real()); };
  Json section = Json::array();
  for (int i = 0; i < measured.n(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    section.push_back({{"position", position[at]},
                       {"error", error[at]},
                       {"cost", cost[at]},
                       {"measured", picture_of(measured.shape(), measured.image(i), root)},
                       {"expected", picture_of(expected.shape(), expected.image(i), root)}});
  }
  return section;
}

}  // namespace tessera::report
