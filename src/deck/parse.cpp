#include "tessera/deck/parse.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/deck/check.hpp"
#include "tessera/deck/methods.hpp"

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
  void read_solvers(const toml::array& solvers, const std::string& file);
  void read_key(const std::string& name, const toml::node& node);
  bool is_section(const std::string& name) const;
  std::string override_name(const std::string& name) const;
  void start_paths_at(const std::filesystem::path& folder);
  void make_solvers(const toml::array& solvers);

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
  if (const toml::array* solvers = root["solver"].as_array()) make_solvers(*solvers);
  read_section(root, "", deck_path);
  start_paths_at(std::filesystem::path(deck_path).parent_path());
}

/// Before anything is read: keys point to solvers.
void Parser::make_solvers(const toml::array& solvers) {
  if (!solvers.is_array_of_tables()) return;
  deck_.solvers.resize(solvers.size());
  keys_ = keys(deck_);
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
    if (prefix.empty() && name == "solver" && node.is_array_of_tables()) {
      read_solvers(*node.as_array(), file);
      continue;
    }
    try {
      if (opens_section)
        throw InputError(text(name, " is a section: write [", name, "] once",
                              name == "solver" ? ", or [[solver]] for each of several" : ""));
      if (prefix.empty() && node.is_table()) throw InputError(unknown_section(name, keys_));
      read_key(name, node);
    } catch (const InputError& error) {
      throw InputError(text(file, ":", toml_key.source().begin.line, ": ", error.what()));
    }
  }
}

void Parser::read_solvers(const toml::array& solvers, const std::string& file) {
  for (std::size_t stage = 0; stage < solvers.size(); ++stage)
    read_section(*solvers[stage].as_table(), solver_section(deck_, stage) + ".", file);
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

/// An override may number the only solver, and must number one of several.
std::string Parser::override_name(const std::string& name) const {
  const std::size_t n = deck_.solvers.size();
  const std::string only = "solver[0].";
  if (n == 1 && name.starts_with(only)) return "solver." + name.substr(only.size());
  if (n > 1 && name.starts_with("solver."))
    throw InputError(text("the deck has ", n, " solvers: write solver[0]", name.substr(6),
                          " to solver[", n - 1, "]", name.substr(6), " for the one that is meant"));
  const std::string section = name.substr(0, name.find('.'));
  if (section.starts_with("solver[") && !is_section(section))
    throw InputError(
        text("there is no ", section, ": the deck has ", n,
             n == 1 ? " solver, solver[0]" : text(" solvers, solver[0] to solver[", n - 1, "]")));
  return name;
}

void Parser::read_override(const std::string& override_text) {
  const std::size_t equals = override_text.find('=');
  const std::string given = trimmed(std::string_view(override_text).substr(0, equals));
  if (equals == std::string::npos || given.empty()) {
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
    const std::string name = override_name(given);
    if (is_section(name)) throw InputError(text(name, " is a section: name one of its keys"));
    read_key(name, *table.get("value"));
  } catch (const InputError& error) {
    throw InputError(text("override '", override_text, "': ", error.what()));
  }
}

/// Adam's step is of every pixel, whatever its gradient.
constexpr double adam_step = 0.02;

/// The resolved deck says what is computed: ePIE is rPIE with both alphas 1; methods of the whole
/// scan have one batch.
void Parser::fill_in_dependent_defaults() {
  for (std::size_t stage = 0; stage < deck_.solvers.size(); ++stage) {
    Solver& solver = deck_.solvers[stage];
    const auto given = [&](const char* key) {
      return given_.contains(text(solver_section(deck_, stage), ".", key));
    };
    const bool is_epie = solver.method == "epie";
    if (is_epie && !given("object_alpha")) solver.object_alpha = 1;
    if (is_epie && !given("probe_alpha")) solver.probe_alpha = 1;
    const bool is_adam = solver.method == "adam";
    if (is_adam && !given("object_step")) solver.object_step = adam_step;
    if (is_adam && !given("probe_step")) solver.probe_step = adam_step;
    if (!allows(solver.method, Option::batches) && !given("batch_size")) solver.batch_size = 0;
  }
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
