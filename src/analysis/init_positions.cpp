// The steps of `tessera init` that look at where the scan went.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/geometry/pixel_size.hpp"
#include "tessera/geometry/wavelength.hpp"

#include "init_steps.hpp"
#include "io/file_facts.hpp"

namespace tessera::analysis {
namespace {

std::string micrometres(double metres) {
  return number_words("%.4g um", 1e6 * metres);
}

/// Object pixel, as far as it is known.
std::optional<double> object_pixel_m(const Sight& sight, const DeckDraft& deck) {
  const auto wavelength = wavelength_m(deck);
  const auto distance = deck.number("experiment.distance_m");
  const auto pixel = deck.number("experiment.detector_pixel_m");
  const auto angle = deck.number("experiment.detector_pixel_rad");
  if (sight.in_near_field && pixel) return *pixel / sight.magnification.value_or(1);
  if (sight.in_near_field) return {};
  if (wavelength && angle) return geometry::far_field_pixel_m(*wavelength, *angle, sight.n_pixels);
  if (wavelength && distance && pixel)
    return geometry::far_field_pixel_m(*wavelength, *distance, *pixel, sight.n_pixels);
  return {};
}

/// Median distance to the nearest neighbour, of some positions: they may come in any order.
double median_step_m(const std::vector<Vec2>& positions) {
  constexpr std::size_t max_looked_at = 200;
  const std::size_t n = std::min(max_looked_at, positions.size());
  std::vector<double> steps;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = i * positions.size() / n;
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t other = 0; other < positions.size(); ++other) {
      const Vec2 step = positions[other] - positions[at];
      if (other != at) nearest = std::min(nearest, std::hypot(step.y, step.x));
    }
    steps.push_back(nearest);
  }
  const auto middle = steps.begin() + std::ssize(steps) / 2;
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

Vec2 extent(const std::vector<Vec2>& positions) {
  const auto [top, bottom] = std::ranges::minmax(positions, {}, &Vec2::y);
  const auto [left, right] = std::ranges::minmax(positions, {}, &Vec2::x);
  return {bottom.y - top.y, right.x - left.x};
}

/// Words of why they are no scan; empty: they are one.
std::string fault_of(const std::vector<Vec2>& positions) {
  const auto n_bad = std::ranges::count_if(
      positions, [](Vec2 at) { return !std::isfinite(at.y) || !std::isfinite(at.x); });
  if (n_bad > 0) return text(n_bad, " of ", positions.size(), " are not finite");
  if (positions.size() > 1 && extent(positions) == Vec2{}) return "all are the same";
  return "";
}

}  // namespace

double positions_unit(const std::vector<Vec2>& positions, std::optional<double> window_m) {
  const double step_m = median_step_m(positions);
  const double longest = window_m ? 2 * *window_m : 1e-4;
  const double shortest = window_m ? 1e-3 * *window_m : 1e-12;
  if (step_m <= longest) return 1;
  for (const double factor : {1e-3, 1e-6, 1e-9, 1e-10})
    if (factor * step_m <= longest / 2 && factor * step_m >= shortest) return factor;
  return 1;
}

std::optional<double> wavelength_m(const DeckDraft& deck) {
  if (const auto voltage = deck.number("experiment.voltage_V"); voltage && *voltage > 0)
    return geometry::electron_wavelength_m(*voltage);
  if (const auto energy = deck.number("experiment.energy_eV"); energy && *energy > 0)
    return geometry::photon_wavelength_m(*energy);
  return {};
}

void look_at_positions(const io::ScanReader& reader, Sight& sight, DeckDraft& deck) {
  std::vector<Vec2> positions;
  try {
    positions = reader.positions_m();
    if (const std::string fault = fault_of(positions); !fault.empty()) throw InputError(fault);
  } catch (const InputError& error) {
    sight.warnings.push_back(text("the positions are not usable: ", error.what()));
    positions.clear();
  }
  if (positions.empty()) return ask_for_raster(deck);
  if (static_cast<int>(positions.size()) != sight.patterns.n_positions)
    sight.warnings.push_back(
        text(positions.size(), " positions for ", sight.patterns.n_positions,
             " patterns: there must be as many; put into a data.positions_file "
             "those that the patterns have"));
  const auto pixel = object_pixel_m(sight, deck);
  const auto window = pixel ? std::optional(*pixel * sight.n_pixels) : std::nullopt;
  double step = median_step_m(positions);
  const double factor =
      sight.positions_unit_m ? *sight.positions_unit_m : positions_unit(positions, window);
  if (factor != 1) {
    const Vec2 scale = factor * sight.said.positions_scale;
    deck.change("data.positions_scale", io::number_pair(scale.y, scale.x), "to metres: a guess");
    sight.warnings.push_back(text("steps of ", io::number(step),
                                  " m cannot be: positions are taken ", "in units of ",
                                  io::number(factor), " m (data.positions_scale)"));
    step *= factor;
  }
  const Vec2 size = factor * extent(positions);
  sight.seen.emplace_back("positions", text(positions.size(), " over ", micrometres(size.y), " x ",
                                            micrometres(size.x), ", steps of ", micrometres(step)));
  if (!window) return;
  sight.seen.emplace_back(
      "pixel", text(number_words("%.4g nm", 1e9 * *pixel), " of the object; a window is ",
                    micrometres(*window), ", a step ",
                    number_words("%.3g %%", 100 * step / *window), " of it"));
  if (step > 0.5 * *window)
    sight.warnings.emplace_back(
        "neighbouring windows hardly overlap: check the units of positions, "
        "distance and pixel");
}

}  // namespace tessera::analysis
