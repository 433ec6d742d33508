#include "init_steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "io/file_facts.hpp"
#include "optics/disc_parallax.hpp"

namespace tessera::analysis {
namespace {

/// Without large prime factors, which make transforms slow.
bool is_quick(int size) {
  for (const int prime : {2, 3, 5, 7})
    while (size % prime == 0) size /= prime;
  return size == 1;
}

/// The next smaller even size that is quick.
int quick_size(int n) {
  n -= n % 2;
  while (n > 2 && !is_quick(n)) n -= 2;
  return n;
}

/// The next larger one.
int roomy_size(int n) {
  n += n % 2;
  while (!is_quick(n)) n += 2;
  return n;
}

void crop_about(Sight& sight, Vec2 centre, bool is_off, DeckDraft& deck) {
  const Shape2 shape = sight.patterns.shape;
  if (!is_off && shape.h == shape.w) return;
  if (is_off)
    deck.set("data.centre_px", io::number_pair(std::round(centre.y), std::round(centre.x)),
             "the beam on the mean pattern");
  else
    centre = {shape.h / 2.0, shape.w / 2.0};
  const double reach = std::min({std::round(centre.y), shape.h - std::round(centre.y),
                                 std::round(centre.x), shape.w - std::round(centre.x)});
  sight.n_pixels = quick_size(2 * static_cast<int>(reach));
  deck.set("data.crop", text('[', sight.n_pixels, ", ", sight.n_pixels, ']'),
           "the largest square about the beam");
}

/// How far the finest features of the object throw light on the detector, in pixels.
std::optional<double> near_field_reach_px(const Sight& sight, const DeckDraft& deck) {
  const auto wavelength = wavelength_m(deck);
  const auto distance = deck.number("experiment.distance_m");
  const auto pixel = deck.number("experiment.detector_pixel_m");
  if (!wavelength || !distance || !pixel || !sight.magnification) return {};
  const double object_pixel_m = *pixel / *sight.magnification;
  return *wavelength * *distance / *sight.magnification / (2 * object_pixel_m * object_pixel_m);
}

/// Of a beam that is wider than the detector, light from beside the window falls into it, and out
/// of it.
void pad_near_field(const Sight& sight, Shape2 window, DeckDraft& deck) {
  const auto reach = near_field_reach_px(sight, deck);
  constexpr double least_px = 2;
  if (!reach || *reach < least_px) return;
  constexpr double edge = 0.02;      // of the detector
  constexpr double most_room = 0.3;  // of the window, on each side: 2.6 times the work
  const auto padded = [&](int begin, int end, int all, int size) {
    const bool ends_inside = begin > edge * all && end < (1 - edge) * all;
    return ends_inside
               ? size
               : roomy_size(size +
                            2 * static_cast<int>(std::ceil(std::min(*reach, most_room * size))));
  };
  const Shape2 shape = sight.patterns.shape;
  const Box lit = sight.beam.lit_box;
  const Shape2 room{padded(lit.begin.y, lit.end.y, shape.h, window.h),
                    padded(lit.begin.x, lit.end.x, shape.w, window.w)};
  if (room == window) return;
  deck.set("data.pad_to", text('[', room.h, ", ", room.w, ']'),
           text("the beam is wider than the detector; light spreads by up to ",
                number_words("%.0f px", *reach)));
}

/// A beam that lights a part of the detector alone is cut out, with what it throws beside.
void cut_out_near_field(Sight& sight, DeckDraft& deck) {
  constexpr double margin = 0.06;  // on each side
  const auto side = [&](int begin, int end, int all) {
    const int wanted = static_cast<int>((1 + 2 * margin) * (end - begin)) + 8;
    const int size = quick_size(std::min(wanted, all));
    const int middle = std::clamp((begin + end) / 2, size / 2, all - size / 2);
    return std::pair{size, middle};
  };
  const Shape2 shape = sight.patterns.shape;
  const Box lit = sight.beam.lit_box;
  const auto [h, y] = side(lit.begin.y, lit.end.y, shape.h);
  const auto [w, x] = side(lit.begin.x, lit.end.x, shape.w);
  if (std::int64_t{h} * w > 7 * shape.size() / 10) return pad_near_field(sight, shape, deck);
  deck.set("data.centre_px", text('[', y, ", ", x, ']'), "the middle of what is lit");
  deck.set("data.crop", text('[', h, ", ", w, ']'), "what is lit, and a margin");
  sight.seen.emplace_back("lit", text("rows ", lit.begin.y, " to ", lit.end.y, ", columns ",
                                      lit.begin.x, " to ", lit.end.x,
                                      ": data.crop leaves out the "
                                      "rest"));
  sight.n_pixels = std::min(h, w);
  pad_near_field(sight, {h, w}, deck);
}

/// The shift of images of the disc's parts is that of its rays at the sample.
void start_out_of_focus(const Sight& sight, DeckDraft& deck) {
  const auto angle = deck.number("experiment.detector_pixel_rad");
  const auto step = deck.first_of_pair("data.raster_step_m");
  if (!angle || !step) {
    deck.set("probe.initial", "\"mean_pattern\"", "or \"aperture\" with its semi_angle_rad");
    const std::string times =
        angle ? number_words("%.4g", *sight.raster_steps_per_px / *angle) +
                    " times data.raster_step_m"
              : number_words("%.3g", *sight.raster_steps_per_px) +
                    " times data.raster_step_m over experiment.detector_pixel_rad";
    deck.ask("probe.defocus_m", times + ", metres; without it the run measures it, if it can");
    return;
  }
  const double semi_angle_rad = *angle * sight.beam.radius_px;
  deck.set("probe.initial", "\"aperture\"");
  deck.set("probe.semi_angle_rad", number_words("%.4g", semi_angle_rad),
           text("the bright disc's radius, ", number_words("%.1f px", sight.beam.radius_px)));
  const double defocus_m = *sight.raster_steps_per_px * *step / *angle;
  const std::string as_found = number_words("%.3g", defocus_m);
  const auto wavelength = wavelength_m(deck);
  if (wavelength && optics::is_near_focus(defocus_m, semi_angle_rad, *wavelength))
    deck.set("probe.defocus_m", "0.0",
             text("metres; near focus: images of the bright disc's parts are shifted as by ",
                  as_found, ", which the run tries"));
  else
    deck.set("probe.defocus_m", as_found,
             "metres, as images of the bright disc's parts are shifted");
}

}  // namespace

std::string number_words(const char* format, double value) {
  char words[64];
  std::snprintf(words, sizeof words, format, value);
  return words;
}

bool has_electrons(const Sight& sight, const DeckDraft& deck) {
  const std::string& format = sight.source.format;
  // A 4-D cube of which nothing says X-rays is what 4D-STEM is kept in.
  if (!sight.patterns.raster.empty() && !deck.has("experiment.energy_eV") &&
      !deck.has("experiment.distance_m"))
    return true;
  return deck.has("experiment.voltage_V") || deck.has("experiment.detector_pixel_rad") ||
         format == "emd" || format == "velox" || format == "nion" || format == "mib" ||
         format == "empad" || sight.said.what.ends_with("electrons");
}

void look_at_beam(Sight& sight, DeckDraft& deck) {
  const Shape2 shape = sight.patterns.shape;
  sight.beam = find_beam(sight.survey, sight.trusted);
  sight.n_pixels = std::min(shape.h, shape.w);
  const bool fills_detector = sight.beam.lit_share > 0.5;
  if (sight.said.is_cornered || (sight.beam.is_in_corners && !fills_detector)) {
    deck.set("data.zero_frequency", "\"corner\"", "the beam is at pixel [0, 0]");
    if (!sight.said.is_cornered)
      sight.warnings.emplace_back(
          "the beam is in the corners, not in the middle: the patterns are "
          "as an FFT has them, data.zero_frequency = \"corner\"");
    return;
  }
  if (fills_detector && !has_electrons(sight, deck)) {
    sight.in_near_field = true;
    deck.set("experiment.propagation", "\"fresnel\"", "the beam fills the detector");
    sight.warnings.emplace_back(
        "the beam fills the detector: taken as the near field; if it is not, "
        "remove experiment.propagation");
  }
}

void centre_beam(Sight& sight, DeckDraft& deck) {
  if (sight.in_near_field) return cut_out_near_field(sight, deck);
  if (deck.has("data.zero_frequency")) return;
  if (sight.beam.lit_share == 0) return;
  const Shape2 shape = sight.patterns.shape;
  const Vec2 centre = sight.beam.centre_px;
  const Vec2 off = centre - Vec2{shape.h / 2.0, shape.w / 2.0};
  const bool is_off = std::hypot(off.y, off.x) > std::max(2.0, 0.05 * sight.n_pixels);
  if (is_off)
    sight.warnings.push_back(text("the beam is ", number_words("%.1f", off.y), " rows and ",
                                  number_words("%.1f", off.x),
                                  " columns off the middle: "
                                  "data.centre_px and data.crop put it there"));
  crop_about(sight, centre, is_off, deck);
}

void ask_for_experiment(Sight& sight, DeckDraft& deck) {
  if (has_electrons(sight, deck)) {
    deck.ask("experiment.voltage_V", "accelerating voltage, V: 300e3, 200e3, 80e3");
    if (const auto angle = deck.number("probe.semi_angle_rad"); angle && sight.beam.radius_px > 0)
      deck.set("experiment.detector_pixel_rad", number_words("%.4g", *angle / sight.beam.radius_px),
               text("probe.semi_angle_rad over the bright disc's radius, ",
                    number_words("%.1f px", sight.beam.radius_px)));
    if (!deck.has("experiment.distance_m"))
      deck.ask(
          "experiment.detector_pixel_rad",
          text("angle of a pixel, radians: the semi-angle of convergence over the radius of the "
               "bright disc, ",
               number_words("%.1f px", sight.beam.radius_px)));
    return;
  }
  deck.ask("experiment.energy_eV", "photon energy, eV, from the beamline's log: 6200.0, 8800.0");
  deck.ask("experiment.distance_m", "sample to detector, metres: 0.5 to 8 with X-rays");
  deck.ask("experiment.detector_pixel_m",
           "metres: 75e-6 of an Eiger, 172e-6 of a Pilatus, 55e-6 of a Medipix");
  if (sight.in_near_field && !sight.magnification)
    deck.ask("experiment.source_distance_m",
             "focus to sample, metres, if the beam is a cone; leave it out if it is parallel");
}

void choose_probe(const Sight& sight, DeckDraft& deck) {
  if (deck.has("probe.initial")) return;
  if (!has_electrons(sight, deck)) {
    deck.set("probe.initial", "\"mean_pattern\"",
             "\"zone_plate\" or \"aperture\" if the optics are known");
    if (!sight.in_near_field)
      deck.set(
          "probe.defocus_m", "0.0",
          "focus to sample along the beam, metres; at 0 the run measures it from how shadows of "
          "the sample move");
    return;
  }
  if (sight.raster_steps_per_px) return start_out_of_focus(sight, deck);
  deck.set("probe.initial", "\"aperture\"");
  if (const auto angle = deck.number("experiment.detector_pixel_rad"))
    deck.set("probe.semi_angle_rad", number_words("%.4g", *angle * sight.beam.radius_px),
             text("the bright disc's radius, ", number_words("%.1f px", sight.beam.radius_px)));
  else
    deck.ask("probe.semi_angle_rad", "semi-angle of convergence, radians: 1e-3 to 30e-3");
  deck.set("probe.defocus_m", "0.0",
           "metres, negative for underfocus; if it is not known, probe.initial = \"mean_pattern\" "
           "measures it");
}

}  // namespace tessera::analysis
