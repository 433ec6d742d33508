#include "init.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tessera/base/error.hpp"
#include "tessera/base/naming.hpp"
#include "tessera/base/text.hpp"

#include "deck_draft.hpp"
#include "init_steps.hpp"
#include "io/file_facts.hpp"
#include "transposed_reader.hpp"

namespace tessera::analysis {
namespace {

std::string type_name(io::PatternType type) {
  switch (type) {
    case io::PatternType::u8:
      return "uint8";
    case io::PatternType::u16:
      return "uint16";
    case io::PatternType::u32:
      return "uint32";
    case io::PatternType::f32:
      break;
  }
  return "float";
}

std::string shape_words(const io::RecordedPatterns& patterns) {
  const std::string n = patterns.raster.empty()
                            ? text(patterns.n_positions)
                            : text(patterns.raster[0], " x ", patterns.raster[1]);
  return text(n, " patterns of ", patterns.shape.h, " x ", patterns.shape.w, " pixels, ",
              type_name(patterns.type));
}

/// Paths in a deck start at its folder.
std::string as_in_deck(const std::string& path, const std::string& deck_path) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::absolute(deck_path).parent_path();
  return fs::absolute(path).lexically_proximate(folder).string();
}

void name_datasets(const Sight& sight, DeckDraft& deck) {
  const io::ScanDescription& said = sight.said;
  const auto path = [&](const std::string& file) {
    return io::in_quotes(as_in_deck(file, sight.deck_path));
  };
  deck.set("data.file", path(sight.source.path), said.what);
  deck.set("data.format", io::in_quotes(sight.source.format));
  if (sight.source.links == io::Links::anywhere) deck.set("data.follow_links", "true");
  if (!said.patterns.empty())
    deck.set("data.patterns", io::in_quotes(said.patterns), shape_words(sight.patterns));
  if (!said.positions.empty()) {
    deck.set("data.positions", io::in_quotes(said.positions));
    if (!said.positions_file.empty()) deck.set("data.positions_file", path(said.positions_file));
    if (const auto columns = said.positions_columns)
      deck.set("data.positions_columns", text('[', (*columns)[0], ", ", (*columns)[1], ']'),
               "columns of y and of x");
    if (said.positions_scale != Vec2{1, 1})
      deck.set("data.positions_scale",
               io::number_pair(said.positions_scale.y, said.positions_scale.x));
  }
  if (!said.valid_pixels.empty())
    deck.set("data.valid_pixels", io::in_quotes(said.valid_pixels), "1 = trust");
  if (!said.bad_pixels.empty())
    deck.set("data.bad_pixels", io::in_quotes(said.bad_pixels), "0 = trust");
  if (!said.background.empty())
    deck.set("data.background", io::in_quotes(said.background),
             "leave it out if the patterns are without it already");
  if (!said.probe.empty()) {
    deck.set("probe.initial", "\"dataset\"");
    deck.set("probe.dataset", io::in_quotes(said.probe));
    if (!said.probe_file.empty()) deck.set("probe.dataset_file", path(said.probe_file));
  }
  for (const io::Statement& statement : said.statements)
    if (statement.value.empty())
      deck.ask(statement.key, statement.from);
    else
      deck.set(statement.key, statement.value, statement.from);
  deck.set("title", io::in_quotes(std::filesystem::path(sight.source.path).stem().string()));
}

void choose_method(const Sight& sight, DeckDraft& deck) {
  deck.set("probe.n_modes", sight.in_near_field ? "1" : "2",
           "more if the beam is partly coherent, 1 if it surely is not");
  deck.set("solver.method", "\"auto\"", "`tessera methods` lists all");
  deck.set("solver.epochs", sight.in_near_field ? "150" : "100");
  deck.set("refine.positions_from_epoch", "10",
           "stages and scan coils err by a part of a pixel, or by several; -1: never");
  deck.set("refine.intensity_from_epoch", "10", "the beam's, by position");
  if (sight.in_near_field)
    deck.set("refine.background_from_epoch", "10", "what falls on the detector beside the beam");
  deck.set("output.file",
           io::in_quotes(std::filesystem::path(sight.deck_path).stem().string() + "_result.h5"));
}

std::string percent(double share) {
  char words[32];
  std::snprintf(words, sizeof words, "%.3g %%", 100 * share);
  return words;
}

std::string report_of(const Sight& sight, const DeckDraft& deck) {
  const auto row = [](const char* name, const std::string& words) {
    std::string padded = name;
    padded.resize(12, ' ');
    return text(padded, words, '\n');
  };
  std::string all = row("file", text(sight.source.path, ": ", sight.said.what));
  all += row("patterns", shape_words(sight.patterns));
  all += row("counts", text(io::number(std::round(sight.survey.mean_counts)),
                            " in a pattern, at most ", io::number(sight.survey.max_count),
                            " in a pixel, of ", sight.survey.n_sampled, " patterns"));
  if (sight.untrusted_share >= 0)
    all += row("mask", percent(sight.untrusted_share) + " of the pixels are not trusted");
  const Vec2 centre = sight.beam.centre_px;
  char words[160];
  std::snprintf(words, sizeof words,
                "centre of mass (%.1f, %.1f) px, the middle is (%d, %d); %s lit", centre.y,
                centre.x, sight.patterns.shape.h / 2, sight.patterns.shape.w / 2,
                percent(sight.beam.lit_share).c_str());
  all += row("beam", words);
  for (const auto& [name, seen] : sight.seen) all += row(name.c_str(), seen);
  for (const std::string& warning : sight.warnings) all += row("warning", warning);
  for (const std::string& key : deck.asked()) all += row("fill in", key);
  return all;
}

}  // namespace

namespace {

Draft draft_of(const std::string& path, const std::string& deck_path, io::Links links) {
  const io::DescribedScan scan = io::describe_scan(path, links);
  Sight sight;
  sight.said = scan.said;
  sight.source = scan.source;
  sight.deck_path = deck_path;
  sight.warnings = scan.said.warnings;
  std::unique_ptr<io::ScanReader> reader = scan.format->open(sight.source, nullptr);
  // All other keys of a deck mean the turned patterns.
  if (std::ranges::any_of(scan.said.statements, [](const io::Statement& statement) {
        return statement.key == "data.transpose";
      }))
    reader = transposed(std::move(reader));
  sight.patterns = reader->patterns();
  sight.survey = survey_patterns(*reader, enough_patterns);
  DeckDraft deck;
  name_datasets(sight, deck);
  look_at_mask(*reader, sight, deck);
  look_at_beam(sight, deck);
  look_at_shadows(*reader, sight, deck);
  centre_beam(sight, deck);
  turn_far_field(*reader, sight, deck);
  look_at_raster(*reader, sight, deck);
  look_at_positions(*reader, sight, deck);
  ask_for_experiment(sight, deck);
  choose_probe(sight, deck);
  choose_method(sight, deck);
  return {deck.toml("# Written by tessera init. Every key is explained in docs/deck.md.\n"),
          report_of(sight, deck)};
}

}  // namespace

Draft draft_deck(const std::string& path, const std::string& deck_path, io::Links links) {
  return naming_file(path, [&] { return draft_of(path, deck_path, links); });
}

}  // namespace tessera::analysis
