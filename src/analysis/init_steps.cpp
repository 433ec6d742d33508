#include "init_steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "io/file_facts.hpp"

namespace tessera::analysis {
namespace {

/// The next smaller even size without large prime factors, which make transforms slow.
int quick_size(int n) {
  const auto is_quick = [](int size) {
    for (const int prime : {2, 3, 5, 7})
      while (size % prime == 0) size /= prime;
    return size == 1;
  };
  n -= n % 2;
  while (n > 2 && !is_quick(n)) n -= 2;
  return n;
}

void warn_of_damaged_pixels(Sight& sight, DeckDraft& deck) {
  std::int64_t n = 0;
  for (std::size_t i = 0; i < sight.survey.damaged.size(); ++i)
    n += sight.survey.damaged.data()[i] && (sight.trusted.n() == 0 || sight.trusted.data()[i] != 0);
  if (n == 0) return;
  const bool is_float = sight.patterns.type == io::PatternType::f32;
  sight.warnings.push_back(
      text(n, " pixels hold no count in any pattern (",
           is_float ? "a negative or no number); they must be in a mask, data.bad_pixels"
                    : "the type's greatest value); data.saturation_counts leaves them out"));
  if (!is_float)
    deck.set("data.saturation_counts", io::number(sight.survey.greatest),
             "the type's greatest value");
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

}  // namespace

std::string number_words(const char* format, double value) {
  char words[64];
  std::snprintf(words, sizeof words, format, value);
  return words;
}

bool has_electrons(const Sight& sight, const DeckDraft& deck) {
  const std::string& format = sight.source.format;
  return deck.has("experiment.voltage_V") || deck.has("experiment.detector_pixel_rad") ||
         format == "emd" || format == "mib" || format == "empad" ||
         sight.said.what.ends_with("electrons");
}

void look_at_mask(const io::ScanReader& reader, Sight& sight, DeckDraft& deck) {
  const Survey& survey = sight.survey;
  if (survey.n_negative > 0)
    sight.warnings.push_back(text(survey.n_negative,
                                  " values of the patterns looked at are "
                                  "negative: was a dark subtracted? Set them to 0 or give counts"));
  if (!survey.are_whole_numbers && survey.max_count > 0 && survey.max_count <= 1)
    sight.warnings.push_back(
        "the patterns are scaled, not counts: their noise is not known, use noise = \"amplitude\"");
  try {
    sight.trusted = reader.valid_pixels();
  } catch (const InputError& error) {
    sight.warnings.push_back(text("the mask is not usable: ", error.what()));
  }
  warn_of_damaged_pixels(sight, deck);
  if (sight.trusted.n() == 0) return;
  double n_trusted = 0;
  double counts_trusted = 0;
  for (std::size_t i = 0; i < sight.trusted.size(); ++i) {
    n_trusted += sight.trusted.data()[i] != 0;
    if (sight.trusted.data()[i] != 0) counts_trusted += survey.mean.data()[i];
  }
  sight.untrusted_share = 1 - n_trusted / static_cast<double>(sight.trusted.size());
  if (sight.untrusted_share < 0.5 || counts_trusted > 0.5 * survey.mean_counts) return;
  const bool said_valid = sight.source.valid_pixels.has_value();
  const std::string name = said_valid ? *sight.source.valid_pixels : *sight.source.bad_pixels;
  deck.change(said_valid ? "data.bad_pixels" : "data.valid_pixels", io::in_quotes(name),
              "the polarity that leaves the beam in");
  deck.remove(said_valid ? "data.valid_pixels" : "data.bad_pixels");
  sight.warnings.push_back(text("the mask \"", name, "\" would leave out ",
                                number_words("%.3g %%", 100 * sight.untrusted_share),
                                " of the pixels and the beam: it is read with the other polarity"));
  for (double& trust : sight.trusted) trust = trust == 0;
  sight.untrusted_share = 1 - sight.untrusted_share;
}

void look_at_beam(Sight& sight, DeckDraft& deck) {
  const Shape2 shape = sight.patterns.shape;
  sight.beam = find_beam(sight.survey, sight.trusted);
  sight.n_pixels = std::min(shape.h, shape.w);
  const Vec2 centre = sight.beam.centre_px;
  if (sight.said.is_cornered || sight.beam.is_in_corners) {
    deck.set("data.zero_frequency", "\"corner\"", "the beam is at pixel [0, 0]");
    if (!sight.said.is_cornered)
      sight.warnings.push_back(
          "the beam is in the corners, not in the middle: the patterns are "
          "as an FFT has them, data.zero_frequency = \"corner\"");
    return;
  }
  if (sight.beam.lit_share > 0.5 && !has_electrons(sight, deck)) {
    sight.in_near_field = true;
    deck.set("experiment.propagation", "\"fresnel\"", "the beam fills the detector");
    sight.warnings.push_back(
        "the beam fills the detector: taken as the near field; if it is not, "
        "remove experiment.propagation");
    return;
  }
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
  if (sight.in_near_field)
    deck.ask("experiment.source_distance_m",
             "focus to sample, metres, if the beam is a cone; leave it out if it is parallel");
}

void choose_probe(const Sight& sight, DeckDraft& deck) {
  if (deck.has("probe.initial")) return;
  if (!has_electrons(sight, deck)) {
    deck.set("probe.initial", "\"mean_pattern\"",
             "\"zone_plate\" or \"aperture\" if the optics are known");
    if (!sight.in_near_field)
      deck.set("probe.defocus_m", "0.0",
               "focus to sample along the beam, metres; worth setting roughly");
    return;
  }
  deck.set("probe.initial", "\"aperture\"");
  if (const auto angle = deck.number("experiment.detector_pixel_rad"))
    deck.set("probe.semi_angle_rad", number_words("%.4g", *angle * sight.beam.radius_px),
             text("the bright disc's radius, ", number_words("%.1f px", sight.beam.radius_px)));
  else
    deck.ask("probe.semi_angle_rad", "semi-angle of convergence, radians: 1e-3 to 30e-3");
  deck.set("probe.defocus_m", "0.0", "metres, negative for underfocus; worth setting roughly");
}

}  // namespace tessera::analysis
