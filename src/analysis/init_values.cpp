// The step of `tessera init` that looks at what pixels hold, and which are to be trusted.

#include <algorithm>
#include <cmath>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "init_steps.hpp"
#include "io/file_facts.hpp"

namespace tessera::analysis {
namespace {

/// Pixels that the type's greatest value marks, in all patterns or in some.
void leave_out_saturated(std::int64_t n_damaged, Sight& sight, DeckDraft& deck) {
  const Survey& survey = sight.survey;
  if (n_damaged > 0)
    sight.warnings.push_back(
        text(n_damaged,
             " pixels hold no count in any pattern (the type's greatest value); "
             "data.saturation_counts leaves them out"));
  if (n_damaged == 0 && survey.n_saturated == 0) return;
  if (const auto said = deck.number("data.saturation_counts"); said && *said <= survey.greatest)
    return;
  deck.change("data.saturation_counts", io::number(survey.greatest), "the type's greatest value");
}

/// Gaps hold a negative or no number in every pattern; where a dark was subtracted some do.
void settle_negatives(std::int64_t n_damaged, Sight& sight, DeckDraft& deck) {
  if (n_damaged > 0) {
    sight.warnings.push_back(text(n_damaged,
                                  " pixels hold a negative or no number in every "
                                  "pattern: data.negative_counts leaves them out"));
    deck.set("data.negative_counts", "\"ignore\"", "gaps hold no counts");
  } else if (sight.survey.n_not_finite > 0) {
    sight.warnings.push_back(text(sight.survey.n_not_finite,
                                  " values of the patterns looked at are no numbers: "
                                  "data.negative_counts leaves them out"));
    deck.set("data.negative_counts", "\"ignore\"", "some values are no numbers");
  } else if (sight.survey.n_negative > 0) {
    sight.warnings.push_back(text(sight.survey.n_negative,
                                  " values of the patterns looked at are negative, as where a "
                                  "dark was subtracted: data.negative_counts makes them 0"));
    deck.set("data.negative_counts", "\"zero\"", "a dark was subtracted?");
  }
}

void look_at_values(Sight& sight, DeckDraft& deck) {
  const Survey& survey = sight.survey;
  std::int64_t n_damaged = 0;
  for (std::size_t i = 0; i < survey.damaged.size(); ++i)
    n_damaged +=
        survey.damaged.data()[i] && (sight.trusted.n() == 0 || sight.trusted.data()[i] != 0);
  if (sight.patterns.type == io::PatternType::f32)
    settle_negatives(n_damaged, sight, deck);
  else
    leave_out_saturated(n_damaged, sight, deck);
  if (!survey.are_whole_numbers && survey.max_count > 0 && survey.max_count <= 1)
    sight.warnings.emplace_back(
        "the patterns are scaled, not counts: their noise is not known, use noise = \"amplitude\"");
}

/// A dark that is brighter than the patterns has been subtracted from them.
void look_at_background(const io::ScanReader& reader, Sight& sight, DeckDraft& deck) {
  if (!deck.has("data.background")) return;
  try {
    const ImageStack<double> dark = reader.detector_images(sight.said.background);
    std::int64_t n_brighter = 0;
    bool is_usable = true;
    for (std::size_t i = 0; i < sight.survey.mean.size(); ++i) {
      double mean = 0;
      for (int n = 0; n < dark.n(); ++n) mean += dark.image(n)[i] / dark.n();
      const bool counts = sight.trusted.n() == 0 || sight.trusted.data()[i] != 0;
      is_usable &= !counts || (std::isfinite(mean) && mean >= 0);
      n_brighter += counts && mean > sight.survey.mean.data()[i] + 1e-6;
    }
    if (is_usable && n_brighter < std::ssize(sight.survey.mean) / 4) return;
    sight.warnings.push_back(text("the background \"", sight.said.background,
                                  is_usable ? "\" is brighter than the patterns, so they are "
                                              "without it already: it is left out"
                                            : "\" holds negative or no numbers: it is left out"));
  } catch (const InputError& error) {
    sight.warnings.push_back(text("the background is not usable: ", error.what()));
  }
  deck.remove("data.background");
}

/// A mask that leaves out most pixels and the beam is of the other polarity.
void settle_polarity(Sight& sight, DeckDraft& deck) {
  if (sight.trusted.n() == 0) return;
  const auto n_untrusted = std::ranges::count(sight.trusted, 0.0);
  sight.untrusted_share =
      static_cast<double>(n_untrusted) / static_cast<double>(sight.trusted.size());
  if (!leaves_out_the_beam(sight.trusted, sight.survey)) return;
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

}  // namespace

void look_at_mask(const io::ScanReader& reader, Sight& sight, DeckDraft& deck) {
  try {
    sight.trusted = reader.valid_pixels();
  } catch (const InputError& error) {
    sight.warnings.push_back(text("the mask is left out: ", error.what()));
    deck.remove("data.valid_pixels");
    deck.remove("data.bad_pixels");
  }
  if (sight.survey.max_count <= 0)
    sight.warnings.emplace_back(
        "the patterns looked at hold no counts: is data.patterns the right dataset?");
  settle_polarity(sight, deck);
  look_at_values(sight, deck);
  look_at_background(reader, sight, deck);
}

}  // namespace tessera::analysis
