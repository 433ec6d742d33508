// What `tessera inspect` says of a result.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "inspect_sections.hpp"

namespace tessera::analysis {
namespace {

Json probe_section(const io::File& file) {
  const WaveStack probe = file.read_waves("probe");
  std::vector<double> power(probe.n());
  for (int i = 0; i < probe.n(); ++i)
    for (std::int64_t r = 0; r < probe.shape().size(); ++r)
      power[i] += std::norm(probe.image(i)[r]);
  const double total = std::accumulate(power.begin(), power.end(), 0.0);
  std::vector<double> share;
  share.reserve(power.size());
  for (const double mode : power) share.push_back(mode / total);
  return {{"modes", probe.n()},
          {"shape_px", {probe.h(), probe.w()}},
          {"power_counts", total},
          {"power_share_of_modes", share}};
}

Json history_section(const io::File& file) {
  Json section = Json::object();
  for (const char* name : {"epochs", "final_error", "final_r_factor", "final_validation_error"})
    if (const auto value = file.number_attribute("/", name)) section[name] = *value;
  for (const std::string name : {"one_bit", "half_bit"})
    if (const std::string of = name + "_nyquist_fraction"; file.has("halves"))
      section["halves_" + of] = file.number_attribute("halves", of).value_or(0);
  for (const std::string name : {"error", "r_factor"}) {
    if (!file.has("history/" + name)) continue;
    const std::vector<double> values = file.read_doubles("history/" + name);
    if (values.empty()) continue;
    section["first_" + name] = values.front();
    section["last_" + name] = values.back();
  }
  return section;
}

/// Areas of boxes (y0, x0, y1, x1).
std::vector<double> areas(const std::vector<double>& corners) {
  std::vector<double> found;
  for (std::size_t i = 0; i + 3 < corners.size(); i += 4)
    found.push_back((corners[i + 2] - corners[i]) * (corners[i + 3] - corners[i + 1]));
  return found;
}

/// As it is printed: a number of a damaged file may be none.
Json whole(double n) {
  return std::abs(n) < 1e15 ? Json(std::llround(n)) : Json(n);
}

Json tiles_section(const io::File& file) {
  Json section = Json::object();
  for (const std::string kind : {"owned", "ghosted"}) {
    if (!file.has("tiles/" + kind)) continue;
    const std::vector<double> found = areas(file.read_doubles("tiles/" + kind));
    if (found.empty()) continue;
    const auto [min, max] = std::minmax_element(found.begin(), found.end());
    section["count"] = found.size();
    section["least_" + kind + "_pixels"] = whole(*min);
    section["most_" + kind + "_pixels"] = whole(*max);
  }
  return section;
}

}  // namespace

Json result_report(const io::File& file) {
  const io::Extents object = file.wave_extents("object");
  Json report;
  report["kind"] = "result";
  report["file"] = file.path();
  for (const char* name : {"format", "title", "sample", "instrument", "measured_at"})
    if (const auto words = file.text_attribute("/", name); words && !words->empty())
      report[name] = *words;
  report["datasets"] = datasets_section(file);
  if (const Json geometry = geometry_section(file); !geometry.empty())
    report["geometry"] = geometry;
  report["object"] = {{"slices", object.size() == 3 ? object[0] : 1},
                      {"shape_px", {object[object.size() - 2], object[object.size() - 1]}}};
  report["probe"] = probe_section(file);
  if (file.has("positions_m"))
    report["positions"] = positions_section(read_points(file, "positions_m"));
  report["history"] = history_section(file);
  if (const Json tiles = tiles_section(file); !tiles.empty()) report["tiles"] = tiles;
  for (const char* name : {"versions", "hosts"})
    if (file.has(name)) report[name] = file.read_text(name);
  return report;
}

}  // namespace tessera::analysis
