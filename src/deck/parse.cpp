#include "tessera/deck/parse.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/deck/check.hpp"

#include "describe.hpp"
#include "read_value.hpp"
#include "unknown_name.hpp"

namespace tessera::deck {

namespace {

/// Reads the deck's text, then the overrides, into one deck.
class Parser {
 public:
  explicit Parser(Deck& deck) : deck_(deck), keys_(keys(deck)) {}

  void read_deck(const std::string& toml_text, const std::string& deck_path);
  void read_override(const std::string& override_text);
  void fill_in_dependent_defaults();

 private:
  void read_section(const toml::table& section, const std::string& prefix, const std::string& file);
  void read_key(const std::string& name, const toml::node& node);
  bool is_section(const std::string& name) const;
  void start_paths_at(const std::filesystem::path& folder);

  Deck& deck_;
  std::vector<Key> keys_;
  std::set<std::string> given_;
};

void Parser::read_deck(const std::string& toml_text, const std::string& deck_path) {
  toml::table root;
  try {
    root = toml::parse(toml_text, deck_path);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    throw InputError(
        text(deck_path, ":", at.line, ":", at.column, ": not valid TOML: ", error.description()));
  }
  read_section(root, "", deck_path);
  start_paths_at(std::filesystem::path(deck_path).parent_path());
}

void Parser::read_section(const toml::table& section, const std::string& prefix,
                          const std::string& file) {
  for (const auto& [toml_key, node] : section) {
    const std::string name = prefix + std::string(toml_key.str());
    const bool opens_section = prefix.empty() && is_section(name);
    if (opens_section && node.is_table()) {
      read_section(*node.as_table(), name + ".", file);
      continue;
    }
    try {
      if (opens_section) throw InputError(text(name, " is a section: write [", name, "] once"));
      if (prefix.empty() && node.is_table()) throw InputError(unknown_section(name, keys_));
      read_key(name, node);
    } catch (const InputError& error) {
      throw InputError(text(file, ":", toml_key.source().begin.line, ": ", error.what()));
    }
  }
}

void Parser::read_key(const std::string& name, const toml::node& node) {
  const auto key = std::ranges::find(keys_, name, &Key::name);
  if (key == keys_.end()) throw InputError(unknown_key(name, keys_));
  read_value(node, *key);
  given_.insert(name);
}

bool Parser::is_section(const std::string& name) const {
  return std::ranges::any_of(keys_,
                             [&](const Key& key) { return key.name.starts_with(name + "."); });
}

/// Defaults are taken along: whether `output.file` is written or not, it starts at the same folder.
void Parser::start_paths_at(const std::filesystem::path& folder) {
  for (const Key& key : keys_) {
    if (!key.is_path) continue;
    std::string& path = *std::get<std::string*>(key.field);
    if (!path.empty()) path = (folder / path).string();
  }
}

std::string trimmed(std::string_view words) {
  const std::size_t begin = words.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return std::string(words.substr(begin, words.find_last_not_of(" \t") - begin + 1));
}

/// `value = <toml>` as a table of one key; empty if that is not what it is.
toml::table try_parse_value(const std::string& toml) {
  try {
    toml::table table = toml::parse("value = " + toml);
    return table.size() == 1 ? table : toml::table{};
  } catch (const toml::parse_error&) {
    return {};
  }
}

/// A bare word is read as if it stood in quotes, so that a shell's quotes need no second pair.
toml::table parse_override_value(const std::string& words) {
  toml::table table = try_parse_value(words);
  const bool is_broken_toml =
      !words.empty() && std::string("\"'[{").find(words[0]) != std::string::npos;
  if (table.empty() && !is_broken_toml) table = try_parse_value("'" + words + "'");
  return table;
}

void Parser::read_override(const std::string& override_text) {
  const std::size_t equals = override_text.find('=');
  const std::string name = trimmed(std::string_view(override_text).substr(0, equals));
  if (equals == std::string::npos || name.empty()) {
    throw InputError(
        text("override '", override_text, "' is not key=value, such as solver.epochs=200"));
  }
  const toml::table table = parse_override_value(trimmed(override_text.substr(equals + 1)));
  if (table.empty()) {
    throw InputError(text("override '", override_text,
                          "': what follows = is neither a TOML value nor a bare word; check quotes "
                          "and brackets"));
  }
  try {
    if (is_section(name)) throw InputError(text(name, " is a section: name one of its keys"));
    read_key(name, *table.get("value"));
  } catch (const InputError& error) {
    throw InputError(text("override '", override_text, "': ", error.what()));
  }
}

/// ePIE is rPIE with both alphas 1, so the resolved deck says what is computed.
void Parser::fill_in_dependent_defaults() {
  if (deck_.solver.method != "epie") return;
  if (!given_.contains("solver.object_alpha")) deck_.solver.object_alpha = 1;
  if (!given_.contains("solver.probe_alpha")) deck_.solver.probe_alpha = 1;
}

}  // namespace

Deck parse(const std::string& toml_text, const std::string& deck_path,
           std::span<const std::string> overrides) {
  Deck deck;
  Parser parser(deck);
  parser.read_deck(toml_text, deck_path);
  for (const std::string& override_text : overrides) parser.read_override(override_text);
  parser.fill_in_dependent_defaults();
  check(deck);
  return deck;
}

}  // namespace tessera::deck
