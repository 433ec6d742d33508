// The step of `tessera init` that looks at how images move with the scan, in the near field or in a
// far field out of focus: they tell magnification or defocus, signs and axes of the positions.

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/geometry/pixel_size.hpp"

#include "init_steps.hpp"
#include "io/file_facts.hpp"
#include "shadow_motion.hpp"
#include "turned_shadows.hpp"

namespace tessera::analysis {
namespace {

std::vector<Vec2> usable_positions(const io::ScanReader& reader, const Sight& sight) {
  try {
    std::vector<Vec2> positions = reader.positions_m();
    if (static_cast<int>(positions.size()) == sight.patterns.n_positions) return positions;
  } catch (const InputError&) {  // look_at_positions says it
  }
  return {};
}

double px_per_unit(const ShadowMotion& motion) {
  return std::sqrt(std::abs(motion.yy * motion.xx - motion.yx * motion.xy));
}

/// The unit in which positions make a magnification that can be; 1: metres.
double unit_of_positions(double magnification) {
  if (magnification > 0.05) return 1;
  for (const double factor : {1e-6, 1e-3, 1e-9})
    if (magnification / factor > 0.9 && magnification / factor < 3e3) return factor;
  return 1;
}

bool cone_agrees(double magnification, double distance_m, double source_m) {
  const double cone = 1 + distance_m / source_m;
  return cone > 1.5 && std::abs(magnification / cone - 1) < 0.5;
}

/// A beam that is wider on the sample than the window of a far-field pattern cannot be one. One
/// that is narrower is one where the file's focus makes the images move as they do, if the cone
/// fills most of the detector.
bool is_near_field(const ShadowMotion& motion, const Sight& sight, const DeckDraft& deck) {
  const auto wavelength = wavelength_m(deck);
  const auto distance = deck.number("experiment.distance_m");
  const auto pixel = deck.number("experiment.detector_pixel_m");
  if (!wavelength || !distance || !pixel) return false;
  const double said = px_per_unit(motion) * *pixel;
  const double magnification = said / unit_of_positions(said);
  if (magnification <= 0.9) return false;
  const double beam_px = 2 * sight.beam.radius_px;
  if (beam_px * *pixel / magnification > *wavelength * *distance / *pixel) return true;
  const auto source = deck.number("experiment.source_distance_m");
  return source && beam_px > sight.n_pixels / 2.0 && cone_agrees(magnification, *distance, *source);
}

bool is_crossed(const ShadowMotion& motion) {
  return std::abs(motion.yx) + std::abs(motion.xy) > std::abs(motion.yy) + std::abs(motion.xx);
}

/// Signs and axes: the image moves against the beam. What the file calls y and x becomes what the
/// detector calls so.
void turn_positions(const ShadowMotion& motion, Sight& sight, DeckDraft& deck) {
  const bool crossed = is_crossed(motion);
  const double y_from = crossed ? motion.yx : motion.yy;
  const double x_from = crossed ? motion.xy : motion.xx;
  // What is left once axes and signs are right.
  const double sign_y = y_from > 0 ? -1 : 1;
  const double sign_x = x_from > 0 ? -1 : 1;
  const double sine =
      crossed ? motion.yy * sign_x - motion.xx * sign_y : motion.yx * sign_x - motion.xy * sign_y;
  const double off = std::atan2(sine, -y_from * sign_y - x_from * sign_x);
  if (const double degrees = off * 180 / std::numbers::pi; std::abs(degrees) > 3)
    sight.warnings.push_back(text(
        "the scan is turned by ", number_words("%.1f", degrees),
        " degrees against the detector: turn the positions before, in a data.positions_file, to (",
        number_words("%.4f", std::cos(off)), " y ", number_words("%+.4f", -std::sin(off)), " x, ",
        number_words("%.4f", std::sin(off)), " y ", number_words("%+.4f", std::cos(off)), " x)"));
  if (!crossed && y_from < 0 && x_from < 0) return;
  io::ScanDescription& said = sight.said;
  std::array<int, 2> columns = said.positions_columns.value_or(std::array{0, 1});
  if (crossed) {
    std::swap(columns[0], columns[1]);
    std::swap(said.positions_scale.y, said.positions_scale.x);
    if (const std::size_t comma = said.positions.find(", "); comma != std::string::npos) {
      said.positions = said.positions.substr(comma + 2) + ", " + said.positions.substr(0, comma);
      deck.change("data.positions", io::in_quotes(said.positions), "as the images move");
    }
  }
  if (y_from > 0) said.positions_scale.y *= -1;
  if (x_from > 0) said.positions_scale.x *= -1;
  deck.change("data.positions_columns", text('[', columns[0], ", ", columns[1], ']'),
              "columns of y and of x, as the images move");
  deck.change("data.positions_scale",
              io::number_pair(said.positions_scale.y, said.positions_scale.x),
              "signs as the images move");
  sight.warnings.push_back(text("the images move otherwise than the positions say: ",
                                crossed ? "y and x are exchanged (data.positions_columns)" : "",
                                crossed && (y_from > 0 || x_from > 0) ? ", " : "",
                                y_from > 0 ? "y runs the other way " : "",
                                x_from > 0 ? "x runs the other way " : "",
                                y_from > 0 || x_from > 0 ? "(signs of data.positions_scale)" : ""));
}

void state_cone(double magnification, Sight& sight, DeckDraft& deck) {
  const auto distance = deck.number("experiment.distance_m");
  const auto said = deck.number("experiment.source_distance_m");
  sight.magnification = magnification;
  sight.seen.emplace_back("near field", text("images move by ", number_words("%.4g", magnification),
                                             " times the positions' steps: the magnification"));
  if (magnification < 0.95) {
    sight.warnings.push_back(text("a magnification of ", number_words("%.3g", magnification),
                                  " cannot be: check experiment.detector_pixel_m and the units "
                                  "of the positions"));
    sight.magnification = 1;
    return;
  }
  if (!distance) return;
  if (said && std::abs(1 + *distance / *said - magnification) < 0.15 * magnification) {
    sight.magnification = 1 + *distance / *said;
    return;
  }
  if (said)
    sight.warnings.push_back(text("distances of ", io::number(*said), " m and ",
                                  io::number(*distance),
                                  " m do not make that magnification: "
                                  "experiment.source_distance_m is taken from the images"));
  deck.remove("experiment.source_distance_m");
  if (magnification > 1.02)
    deck.set("experiment.source_distance_m", number_words("%.4g", *distance / (magnification - 1)),
             "focus to sample: from how far the images move; check it");
}

/// Out of focus a far-field pattern is a shadow, too. All positions turned by half a turn are the
/// same with the other sign of defocus and phase: they stay.
void take_defocus(const ShadowMotion& motion, Sight& sight, DeckDraft& deck) {
  const bool moves_with_beam = !is_crossed(motion) && motion.yy > 0 && motion.xx > 0;
  if (!moves_with_beam) turn_positions(motion, sight, deck);
  const auto distance = deck.number("experiment.distance_m");
  const auto pixel = deck.number("experiment.detector_pixel_m");
  if (!distance || !pixel) return;
  const double said = px_per_unit(motion) * *pixel;
  const double magnification = said / unit_of_positions(said);
  sight.positions_unit_m = unit_of_positions(said);
  sight.seen.emplace_back("defocus", text("shadows move by ", number_words("%.4g", magnification),
                                          " times the positions' steps"));
  deck.set("probe.defocus_m",
           number_words("%.3g", (moves_with_beam ? -1 : 1) * *distance / magnification),
           "as shadows of the sample move; the other sign with positions turned by half a turn");
}

}  // namespace

void look_at_shadows(io::ScanReader& reader, Sight& sight, DeckDraft& deck) {
  const std::vector<Vec2> positions = usable_positions(reader, sight);
  const bool can_be = !positions.empty() && !has_electrons(sight, deck) &&
                      !deck.has("data.zero_frequency") && sight.beam.radius_px > 8;
  const auto motion =
      can_be ? find_shadow_motion(reader, sight.survey, sight.trusted, positions) : std::nullopt;
  if (!sight.in_near_field && motion && is_near_field(*motion, sight, deck)) {
    sight.in_near_field = true;
    deck.set("experiment.propagation", "\"fresnel\"", "the images move with the scan");
    sight.warnings.emplace_back(
        "the images move with the scan, and the beam is wider than the window of a far-field "
        "pattern or comes from the focus that the file names: taken as the near field");
  }
  if (!sight.in_near_field) {
    deck.remove("experiment.source_distance_m");
    if (motion) take_defocus(*motion, sight, deck);
    return;
  }
  if (!motion) {
    if (can_be)
      sight.warnings.emplace_back(
          "the images do not move with the positions as they should in the "
          "near field: check signs, axes and units of the positions");
    return;
  }
  turn_positions(*motion, sight, deck);
  const auto pixel = deck.number("experiment.detector_pixel_m");
  if (!pixel) return;
  const double magnification = px_per_unit(*motion) * *pixel;
  sight.positions_unit_m = unit_of_positions(magnification);
  state_cone(magnification / *sight.positions_unit_m, sight, deck);
}

void turn_far_field(io::ScanReader& reader, Sight& sight, DeckDraft& deck) {
  const std::vector<Vec2> positions = usable_positions(reader, sight);
  const auto wavelength = wavelength_m(deck);
  const auto distance = deck.number("experiment.distance_m");
  const auto pixel = deck.number("experiment.detector_pixel_m");
  if (positions.empty() || sight.in_near_field || has_electrons(sight, deck) ||
      deck.has("data.zero_frequency") || deck.has("probe.defocus_m") || !wavelength || !distance ||
      !pixel || sight.beam.lit_share == 0)
    return;
  const double object_pixel_m =
      geometry::far_field_pixel_m(*wavelength, *distance, *pixel, sight.n_pixels);
  std::vector<Vec2> positions_px;
  positions_px.reserve(positions.size());
  const double unit = positions_unit(positions, object_pixel_m * sight.n_pixels);
  for (const Vec2 at : positions) positions_px.push_back(unit / object_pixel_m * at);
  const Shape2 shape = sight.patterns.shape;
  const Vec2 centre =
      deck.has("data.centre_px") ? sight.beam.centre_px : Vec2{shape.h / 2.0, shape.w / 2.0};
  const auto found = find_turned_shadows(reader, sight.survey, sight.trusted,
                                         {centre, sight.n_pixels}, positions_px);
  if (!found) return;
  sight.seen.emplace_back(
      "shadows",
      text("move with the sample, at a correlation of ",
           number_words("%.2g", found->shadows.correlation), " where chance has ",
           number_words("%.2g", found->shadows.flat_correlation),
           found->agrees ? "; axes and signs of the positions agree"
                         : "; positions are turned accordingly, or by half a turn more, which is "
                           "the other sign of defocus and phase"));
  if (!found->agrees) turn_positions(found->motion, sight, deck);
}

}  // namespace tessera::analysis
