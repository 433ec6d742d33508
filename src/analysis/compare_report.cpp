#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/compare.hpp"

namespace tessera::analysis {
namespace {

using Json = nlohmann::ordered_json;

/// Half a period of the finest detail resolved; null if the pixel or the limit is unknown.
Json resolution_m(double nyquist_fraction, const Comparison& comparison) {
  if (!comparison.pixel_m || nyquist_fraction <= 0) return nullptr;
  return *comparison.pixel_m / nyquist_fraction;
}

Json as_json(const Ambiguity& removed) {
  return {{"phase_rad", removed.phase_rad},
          {"ramp_rad_per_px", {removed.ramp_rad_per_px.y, removed.ramp_rad_per_px.x}},
          {"scale", removed.scale},
          {"shift_px", {removed.shift_px.y, removed.shift_px.x}}};
}

Json as_json(const RingCorrelation& rings) {
  return {{"nyquist_fraction", rings.nyquist_fraction},
          {"correlation", rings.correlation},
          {"one_bit", rings.one_bit},
          {"half_bit", rings.half_bit}};
}

Json as_json(const SliceComparison& slice) {
  return {{"object_difference", slice.difference},
          {"removed", as_json(slice.removed)},
          {"one_bit_nyquist_fraction", slice.one_bit_fraction},
          {"half_bit_nyquist_fraction", slice.half_bit_fraction},
          {"strength_of_slices", slice.strengths},
          {"cross_talk", slice.cross_talk},
          {"rings", as_json(slice.rings)}};
}

Json as_json(const ColumnComparison& columns) {
  Json made = {{"n_columns", columns.n_columns},
               {"rms_px", columns.rms_px},
               {"worst_px", columns.worst_px},
               {"affine_rms_px", columns.affine_rms_px}};
  if (columns.n_dopants > 0)
    made.update({{"n_dopants", columns.n_dopants},
                 {"depth_fwhm_m", columns.depth_fwhm_m},
                 {"depth_rms_m", columns.depth_rms_m}});
  return made;
}

std::string column_lines(const ColumnComparison& columns) {
  std::string out = fmt::format(
      "atom columns           {}, {:.3g} px rms from the truth, {:.3g} at most, {:.3g} without an "
      "affine map\n",
      columns.n_columns, columns.rms_px, columns.worst_px, columns.affine_rms_px);
  if (columns.n_dopants > 0)
    out += fmt::format(
        "dopants                {}, FWHM along z {:.3g} m, depth {:.3g} m rms from the truth\n",
        columns.n_dopants, columns.depth_fwhm_m, columns.depth_rms_m);
  return out;
}

Json as_json(const Comparison& c) {
  Json slices = Json::array();
  for (const SliceComparison& slice : c.slices) slices.push_back(as_json(slice));
  return {
      {"before", {{"object_difference", c.before.object}, {"probe_difference", c.before.probe}}},
      {"after", {{"object_difference", c.after.object}, {"probe_difference", c.after.probe}}},
      {"removed", as_json(c.removed)},
      {"grid_offset_px", {c.grid_offset_px.y, c.grid_offset_px.x}},
      {"compared_pixels", c.compared_pixels},
      {"resolution",
       {{"one_bit_nyquist_fraction", c.one_bit_fraction},
        {"one_bit_half_period_m", resolution_m(c.one_bit_fraction, c)},
        {"half_bit_nyquist_fraction", c.half_bit_fraction},
        {"half_bit_half_period_m", resolution_m(c.half_bit_fraction, c)}}},
      {"position_error_px", c.position_error_px ? Json(*c.position_error_px) : Json(nullptr)},
      {"columns", c.columns ? as_json(*c.columns) : Json(nullptr)},
      {"slices", slices},
      {"rings", as_json(c.rings)}};
}

std::string resolution_line(const char* name, double fraction, const Comparison& c) {
  const Json half_period_m = resolution_m(fraction, c);
  return fmt::format(
      "{:<22} {}{:.3f} of Nyquist{}\n", name, fraction >= 1 ? "at least " : "", fraction,
      half_period_m.is_null() ? ""
                              : fmt::format(", half period {:.3g} m", half_period_m.get<double>()));
}

std::string slice_lines(const std::vector<SliceComparison>& slices) {
  std::string out;
  for (std::size_t s = 0; s < slices.size(); ++s)
    out += fmt::format(
        "slice {:<16} difference {:.4g}, 1 bit to {:.3f} of Nyquist, strongest ghost of another "
        "{:.2f} %\n",
        s, slices[s].difference, slices[s].one_bit_fraction, 100 * slices[s].cross_talk);
  return out;
}

/// The correlation at ten frequencies: enough to see how it falls.
std::string ring_lines(const RingCorrelation& rings) {
  std::string out = "frequency / Nyquist    correlation  1-bit line  1/2-bit line";
  const std::size_t last = rings.correlation.size() - 1;
  constexpr std::size_t n_lines = 10;
  for (std::size_t line = 1; line <= n_lines; ++line) {
    const std::size_t ring = line * last / n_lines;
    out += fmt::format("\n{:<22.3f} {:11.4f}  {:10.4f}  {:12.4f}", rings.nyquist_fraction[ring],
                       rings.correlation[ring], rings.one_bit[ring], rings.half_bit[ring]);
  }
  return out;
}

}  // namespace

std::string compare_report(const Comparison& c, bool json) {
  if (json) return as_json(c).dump(2, ' ', false, Json::error_handler_t::replace);
  const Ambiguity& removed = c.removed;
  std::string out = "||a - b|| / ||b||      object       probe\n";
  out += fmt::format("as they are            {:<12.4g} {:.4g}\n", c.before.object, c.before.probe);
  out += fmt::format("ambiguities removed    {:<12.4g} {:.4g}\n", c.after.object, c.after.probe);
  out += fmt::format(
      "removed from a         phase {:.6g} rad, ramp ({:.4g}, {:.4g}) rad/px, scale "
      "{:.6g}, shift ({:.4g}, {:.4g}) px\n",
      removed.phase_rad, removed.ramp_rad_per_px.y, removed.ramp_rad_per_px.x, removed.scale,
      removed.shift_px.y, removed.shift_px.x);
  out += fmt::format(
      "compared               {} illuminated pixels, grids offset by ({:.6g}, {:.6g}) "
      "px\n",
      c.compared_pixels, c.grid_offset_px.y, c.grid_offset_px.x);
  out += resolution_line("resolution, 1 bit", c.one_bit_fraction, c);
  out += resolution_line("resolution, 1/2 bit", c.half_bit_fraction, c);
  if (c.position_error_px)
    out += fmt::format("scan positions         {:.4g} px rms apart\n", *c.position_error_px);
  if (c.columns) out += column_lines(*c.columns);
  return out + slice_lines(c.slices) + ring_lines(c.rings);
}

}  // namespace tessera::analysis
