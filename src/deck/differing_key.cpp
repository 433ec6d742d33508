#include <filesystem>
#include <optional>
#include <string>
#include <variant>

#include "deck/check.hpp"
#include "deck/keys.hpp"
#include "describe.hpp"

namespace tessera::deck {
namespace {

/// What says how a run is made, saved and ended, or what it is called.
bool may_differ(const std::string& name) {
  for (const char* section : {"stop.", "decomposition.", "run.", "output.", "simulation."})
    if (name.starts_with(section)) return true;
  // The plan of a run has the size of batches that their coverage asked for.
  for (const char* ending : {".epochs", ".batch_size", ".batch_coverage"})
    if (name.ends_with(ending)) return true;
  return name.find('.') == std::string::npos;
}

/// What `deck` leaves to the patterns or to its epochs, and a run has settled.
bool is_left_open(const Deck& deck, const Key& key) {
  if (key.name == "refine.background_from_epoch") return deck.refine.background.is_of_recipe;
  if (key.name == "constraints.probe_power_from_epoch")
    return deck.constraints.probe_power.is_of_recipe;
  if (key.name == "probe.opr_trial_epoch") return deck.probe.opr_trial.is_of_recipe;
  if (key.name == "probe.opr_modes") return deck.probe.opr_trial.from_epoch >= 0;
  if (key.name.ends_with(".noise"))
    return settings::noise_is_open(*std::get<std::string*>(key.field));
  const auto* number = std::get_if<std::optional<double>*>(&key.field);
  return number != nullptr && !**number && key.none == "auto";
}

std::string compared_text(const Key& key) {
  std::string value = value_text(key).value_or("");
  if (!key.is_path || std::get<std::string*>(key.field)->empty()) return value;
  std::error_code unknown;
  return std::filesystem::weakly_canonical(*std::get<std::string*>(key.field), unknown);
}

}  // namespace

std::string differing_key(Deck asked, Deck found) {
  const std::vector<Key> of_asked = keys(asked);
  const std::vector<Key> of_found = keys(found);
  for (std::size_t i = 0; i < of_asked.size(); ++i) {
    if (i >= of_found.size() || of_asked[i].name != of_found[i].name) return "solver.method";
    const std::string& name = of_asked[i].name;
    if (may_differ(name) || is_left_open(asked, of_asked[i])) continue;
    if (compared_text(of_asked[i]) != compared_text(of_found[i])) return name;
  }
  return of_found.size() > of_asked.size() ? "solver.method" : "";
}

}  // namespace tessera::deck
