#include "inspect_sections.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::analysis {
namespace {

const char* type_name(io::ElementType type) {
  switch (type) {
    case io::ElementType::u8:
      return "u8";
    case io::ElementType::u16:
      return "u16";
    case io::ElementType::u32:
      return "u32";
    case io::ElementType::i64:
      return "integer";
    case io::ElementType::f32:
      return "f32";
    case io::ElementType::f64:
      return "f64";
    case io::ElementType::complex64:
      return "complex64";
    case io::ElementType::complex128:
      return "complex128";
    case io::ElementType::boolean:
      return "boolean";
    case io::ElementType::text:
      return "text";
    case io::ElementType::other:
      return "other";
  }
  return "other";
}

std::string shape_text(const io::Extents& extents) {
  std::vector<std::string> parts;
  for (const auto extent : extents) parts.push_back(text(extent));
  return parts.empty() ? "one value" : joined(parts, " x ");
}

/// Median distance to the nearest other position; of a sample, for scans can be long.
double median_nearest_m(std::vector<Vec2> positions_m) {
  constexpr std::size_t n_sampled = 1000;
  const std::size_t n = positions_m.size();
  std::ranges::sort(positions_m, {}, &Vec2::y);
  std::vector<double> steps_m;
  for (std::size_t i = 0; i < n; i += std::max<std::size_t>(1, n / n_sampled)) {
    double nearest_m = std::numeric_limits<double>::infinity();
    // Up and down, as far as one could be nearer.
    const auto try_out = [&](const Vec2& other) {
      const Vec2 way = other - positions_m[i];
      nearest_m = std::min(nearest_m, std::hypot(way.y, way.x));
      return std::abs(way.y) < nearest_m;
    };
    for (std::size_t j = i; j > 0; --j)
      if (!try_out(positions_m[j - 1])) break;
    for (std::size_t j = i + 1; j < n; ++j)
      if (!try_out(positions_m[j])) break;
    steps_m.push_back(nearest_m);
  }
  const auto middle = steps_m.begin() + static_cast<std::ptrdiff_t>(steps_m.size() / 2);
  std::nth_element(steps_m.begin(), middle, steps_m.end());
  return *middle;
}

}  // namespace

Json datasets_section(const io::File& file) {
  Json section = Json::object();
  for (const auto& [name, info] : datasets(file)) {
    std::string line = text(type_name(info.type), ", ", shape_text(info.extents));
    if (!info.chunk.empty()) line += ", chunks of " + shape_text(info.chunk);
    if (info.is_virtual) line += ", virtual";
    if (!info.missing_filters.empty())
      line += ", cannot be read: no filter " + joined(info.missing_filters);
    section[name] = line;
  }
  return section;
}

Json geometry_section(const io::File& file) {
  Json section = Json::object();
  for (const char* name : {"wavelength_m", "object_pixel_m", "energy_eV", "voltage_V", "distance_m",
                           "detector_pixel_m", "detector_pixel_rad"})
    try {
      if (const auto value = file.number_attribute("/", name)) section[name] = *value;
    } catch (const InputError& error) {
      section[name] = error.what();  // files of others may have a value for every pattern
    }
  return section;
}

Json positions_section(const std::vector<Vec2>& positions_m) {
  const auto [top, bottom] = std::minmax_element(positions_m.begin(), positions_m.end(),
                                                 [](Vec2 a, Vec2 b) { return a.y < b.y; });
  const auto [left, right] = std::minmax_element(positions_m.begin(), positions_m.end(),
                                                 [](Vec2 a, Vec2 b) { return a.x < b.x; });
  Json section = {{"count", positions_m.size()},
                  {"extent_m", {bottom->y - top->y, right->x - left->x}}};
  if (positions_m.size() > 1) section["median_step_m"] = median_nearest_m(positions_m);
  return section;
}

}  // namespace tessera::analysis
