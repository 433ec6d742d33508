#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tessera/base/text.hpp"

#include "analysis/file_contents.hpp"
#include "deck/describe.hpp"
#include "sections.hpp"

namespace tessera::report {
namespace {

/// Every so manieth position is shown.
constexpr std::int64_t max_positions = 4096;

/// Rows of a dataset (n, ...), every `every`-th.
Json rows(const std::vector<double>& values, std::int64_t n, std::int64_t every) {
  const std::int64_t n_columns = std::ssize(values) / std::max<std::int64_t>(n, 1);
  Json found = Json::array();
  for (std::int64_t i = 0; i < n; i += every) {
    const auto row = values.begin() + i * n_columns;
    found.push_back(std::vector<double>(row, row + n_columns));
  }
  return found;
}

/// Where the deck had the positions that are at `after_m`.
std::vector<double> before_m(const Result& result, std::vector<double> after_m) {
  const std::vector<double> moved_px = result.file.read_doubles("parameters/displacement_px");
  const std::size_t n = std::min(after_m.size(), moved_px.size());
  for (std::size_t i = 0; i < n; ++i) after_m[i] -= result.pixel_m * moved_px[i];
  return after_m;
}

/// The same keys at their defaults, methods being what they are.
std::map<std::string, std::string> defaults_like(const deck::Deck& deck) {
  deck::Deck plain;
  plain.solvers.clear();
  for (const deck::Solver& solver : deck.solvers)
    plain.solvers.push_back(deck::Solver::of(solver.method));
  std::map<std::string, std::string> values;
  for (const deck::Key& key : deck::keys(plain))
    if (const auto value = deck::value_text(key)) values[key.name] = *value;
  return values;
}

}  // namespace

Json figures_section(const Result& result) {
  Json section = Json::object();
  for (const char* name : {"title", "sample", "instrument", "measured_at", "status", "format"})
    if (const auto words = result.file.text_attribute("/", name); words && !words->empty())
      section[name] = *words;
  for (const char* name : {"epochs", "final_error", "final_r_factor", "final_validation_error",
                           "object_pixel_m", "wavelength_m"})
    if (const auto value = result.file.number_attribute("/", name)) section[name] = *value;
  if (result.file.has("bad_patterns")) {
    std::vector<std::string> positions;
    for (const double position : result.file.read_doubles("bad_patterns"))
      positions.push_back(text(position));
    section["bad_patterns"] = "positions " + joined(positions);
  }
  return section;
}

Json history_section(const Result& result) {
  Json section = Json::object();
  for (const std::string name : {"error", "r_factor", "stage", "validation_error"})
    if (result.file.has("history/" + name))
      section[name] = result.file.read_doubles("history/" + name);
  section["solvers"] = Json::array();
  if (result.deck)
    for (const deck::Solver& solver : result.deck->solvers)
      section["solvers"].push_back(solver.method);
  return section;
}

Json halves_section(const Result& result) {
  if (!result.file.has("halves/correlation")) return nullptr;
  Json rings = Json::object();
  for (const std::string name : {"nyquist_fraction", "correlation", "one_bit", "half_bit"})
    rings[name] = result.file.read_doubles("halves/" + name);
  Json section = {{"rings", rings}};
  for (const char* name : {"one_bit_nyquist_fraction", "half_bit_nyquist_fraction"})
    section[name] = result.file.number_attribute("halves", name).value_or(0);
  return section;
}

Json positions_section(const Result& result) {
  const std::vector<double> after_m = result.file.read_doubles("positions_m");
  const std::int64_t n = std::ssize(after_m) / 2;
  const std::int64_t every = (n + max_positions - 1) / max_positions;
  Json section = {{"count", n}, {"every", every}, {"after_m", rows(after_m, n, every)}};
  if (result.file.has("parameters/displacement_px"))
    section["before_m"] = rows(before_m(result, after_m), n, every);
  for (const std::string name : {"intensity", "opr_weight"})
    if (result.file.has("parameters/" + name))
      section[name] = rows(result.file.read_doubles("parameters/" + name), n, every);
  return section;
}

Json tiles_section(const Result& result) {
  Json section = Json::object();
  for (const std::string kind : {"owned", "ghosted"})
    if (result.file.has("tiles/" + kind)) {
      const std::vector<double> edges = result.file.read_doubles("tiles/" + kind);
      section[kind] = rows(edges, std::ssize(edges) / 4, 1);
    }
  return section;
}

Json ranks_section(const Result& result) {
  Json section = Json::object();
  for (const std::string& name : result.file.members("ranks"))
    section[name] = result.file.read_doubles("ranks/" + name);
  return section;
}

Json deck_section(const Result& result) {
  Json section = Json::array();
  if (!result.deck) return section;
  deck::Deck deck = *result.deck;
  const std::map<std::string, std::string> defaults = defaults_like(deck);
  for (const deck::Key& key : deck::keys(deck)) {
    const auto value = deck::value_text(key);
    if (!value) continue;
    Json row = {{"key", key.name}, {"value", *value}, {"meaning", key.meaning}};
    if (const auto found = defaults.find(key.name); found != defaults.end())
      row["default"] = found->second;
    section.push_back(row);
  }
  return section;
}

}  // namespace tessera::report
