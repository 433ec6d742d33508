#include <filesystem>
#include <string>

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

std::string compared_text(const Key& key) {
  const std::string value = value_text(key).value_or("");
  if (!key.is_path || std::get<std::string*>(key.field)->empty()) return value;
  std::error_code unknown;
  return std::filesystem::weakly_canonical(*std::get<std::string*>(key.field), unknown);
}

}  // namespace

std::string differing_key(Deck a, Deck b) {
  const std::vector<Key> keys_a = keys(a);
  const std::vector<Key> keys_b = keys(b);
  for (std::size_t i = 0; i < keys_a.size(); ++i) {
    if (i >= keys_b.size() || keys_a[i].name != keys_b[i].name) return "solver.method";
    const std::string& name = keys_a[i].name;
    if (!may_differ(name) && compared_text(keys_a[i]) != compared_text(keys_b[i])) return name;
  }
  return keys_b.size() > keys_a.size() ? "solver.method" : "";
}

}  // namespace tessera::deck
