// The steps of `tessera init` that look at how a raster without positions went over the sample.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "tessera/base/text.hpp"

#include "init_steps.hpp"
#include "io/file_facts.hpp"
#include "optics/disc_parallax.hpp"
#include "raster_columns.hpp"
#include "scan_orientation.hpp"

namespace tessera::analysis {
namespace {

/// Rows and columns whose product is n, as near to a square as can be.
std::array<int, 2> squarest(int n) {
  auto rows = static_cast<int>(std::sqrt(n));
  while (n % rows != 0) --rows;
  return {rows, n / rows};
}

/// What the file says apart from its patterns.
std::vector<int> said_raster(const Sight& sight) {
  int rows = 0;
  int columns = 0;
  for (const io::Statement& statement : sight.said.statements)
    if (statement.key == "data.raster_shape" &&
        std::sscanf(statement.value.c_str(), "[%d, %d]", &rows, &columns) == 2)
      return {rows, columns};
  return {};
}

std::string shape_words(int rows, int columns) {
  return text('[', rows, ", ", columns, ']');
}

/// From the patterns; else a square is guessed.
void settle_shape(io::ScanReader& reader, Sight& sight, DeckDraft& deck) {
  const int n = sight.patterns.n_positions;
  constexpr int max_looked_at = 4096;
  const int n_looked_at = std::min(max_looked_at, n);
  const Box line = Box::at({0, (n - n_looked_at) / 2}, {1, n_looked_at});
  const auto columns = find_raster_columns(
      sample_raster(reader, n, line, sight.trusted, sight.survey, sight.beam), n);
  const auto [h, w] = squarest(n);
  if (columns) {
    sight.raster = {n / *columns, *columns};
    deck.set("data.raster_shape", shape_words(n / *columns, *columns),
             text("patterns are alike ", *columns, " later: a row of the scan"));
  } else if (h == w) {
    sight.raster = {h, w};
    deck.set("data.raster_shape", shape_words(h, w), "a guess: rows and columns of the scan");
  } else {
    deck.ask("data.raster_shape",
             text("[rows, columns] of the scan, whose product is ", n, ": [", h, ", ", w, "]?"));
  }
}

double degrees(double radians) {
  return radians * 180 / std::numbers::pi;
}

/// Rows and columns of the detector are exchanged, against what the file says.
void transpose(Sight& sight, DeckDraft& deck, const std::string& why) {
  const bool was_turned = deck.has("data.transpose");
  deck.change("data.transpose", was_turned ? "false" : "true", why);
  if (deck.has("data.centre_px"))
    deck.change(
        "data.centre_px",
        io::number_pair(std::round(sight.beam.centre_px.x), std::round(sight.beam.centre_px.y)),
        "the beam on the mean pattern, after turning");
  sight.warnings.push_back(text("rows and columns of the patterns are exchanged: data.transpose = ",
                                was_turned ? "false" : "true"));
}

void turn_as_images_shift(const optics::DiscParallax& found, Sight& sight, DeckDraft& deck) {
  if (found.is_exchanged)
    transpose(sight, deck, "as images of the bright disc's parts are shifted");
  sight.raster_steps_per_px = found.shift_per_px;
  sight.seen.emplace_back(
      "orientation",
      text("parts of the bright disc show the scan shifted by ",
           number_words("%.3g", std::abs(found.shift_per_px)), " steps a pixel (correlation ",
           number_words("%.2g", found.correlation), "): out of focus, and turned by ",
           number_words("%.1f", degrees(found.rotation_rad)), " degrees",
           found.is_exchanged ? ", rows and columns exchanged" : ""));
  deck.set("data.raster_rotation_rad", number_words("%.4f", found.rotation_rad),
           "as images of the bright disc's parts are shifted; half a turn more would be the other "
           "sign of defocus and phase");
}

/// In focus a strong sample moves the disc, whose edges show something that is no parallax.
bool contradicts(const ScanOrientation& by_curl, const optics::DiscParallax& parallax) {
  constexpr double certain_curl_share = 0.1;
  constexpr double least_sine = 0.35;
  return by_curl.curl_share < certain_curl_share &&
         (by_curl.transpose != parallax.is_exchanged ||
          std::abs(std::sin(by_curl.rotation_rad - parallax.rotation_rad)) > least_sine);
}

void turn_to_least_curl(const ScanOrientation& found, Sight& sight, DeckDraft& deck) {
  sight.seen.emplace_back(
      "orientation",
      text("the scan is turned by ", number_words("%.1f", degrees(found.rotation_rad)),
           " degrees (or that plus 180)", found.transpose ? ", rows and columns exchanged" : "",
           ": ", number_words("%.2g", found.curl_share), " of curl is left"));
  deck.set("data.raster_rotation_rad", number_words("%.4f", found.rotation_rad),
           "least curl of the centres of mass; or half a turn more");
  if (found.transpose) transpose(sight, deck, "least curl of the centres of mass");
}

}  // namespace

void look_at_raster(io::ScanReader& reader, Sight& sight, DeckDraft& deck) {
  if (sight.source.positions || sight.beam.lit_share == 0) return;
  sight.raster = sight.patterns.raster.empty() ? said_raster(sight) : sight.patterns.raster;
  if (sight.raster.empty()) settle_shape(reader, sight, deck);
  if (sight.raster.empty() || !has_electrons(sight, deck)) return;
  constexpr int max_side = 64;
  const Shape2 part{std::min(max_side, sight.raster[0]), std::min(max_side, sight.raster[1])};
  const Pixel corner{(sight.raster[0] - part.h) / 2, (sight.raster[1] - part.w) / 2};
  const RasterSample sample = sample_raster(reader, sight.raster[1], Box::at(corner, part),
                                            sight.trusted, sight.survey, sight.beam);
  const ScanOrientation found = find_scan_orientation(sample.centres, part);
  const optics::DiscParallax parallax = optics::turned_parallax(sample.disc);
  if (parallax.is_clear() && !contradicts(found, parallax))
    return turn_as_images_shift(parallax, sight, deck);
  if (found.curl_share <= 0.3) turn_to_least_curl(found, sight, deck);
}

void ask_for_raster(DeckDraft& deck) {
  deck.set("data.positions", "\"\"", "the file has none: a raster");
  deck.ask("data.raster_step_m",
           "[y, x], metres, from the scan's settings; or, in place of all raster_ lines and "
           "positions, data.positions_file");
  deck.set("data.raster_rotation_rad", "0.0",
           "of the scan to the detector; often not 0 in 4D-STEM");
}

}  // namespace tessera::analysis
