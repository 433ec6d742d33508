#include "deck/parse.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "deck/check.hpp"
#include "deck/methods.hpp"
#include "describe.hpp"
#include "read_value.hpp"
#include "recipes.hpp"
#include "unknown_name.hpp"

namespace tessera::deck {

namespace {

/// A key=value word, its value read as TOML.
struct Override {
  std::string words;
  std::string name;
  toml::table table;  ///< with one key, "value"
};

/// Reads the deck's text, then the overrides, into one deck.
class Parser {
 public:
  Parser(Deck& deck, const std::string& toml_text, const std::string& deck_path,
         std::span<const std::string> overrides, const Words* words);

  void read_deck();
  void read_overrides();

 private:
  void choose_methods();
  void choose_method(std::size_t stage, const toml::node* node);
  void read_section(const toml::table& section, const std::string& prefix);
  void read_solvers(const toml::array& solvers);
  void read_key(const std::string& name, const toml::node& node);
  std::string with_words(const std::string& name, const std::string& value) const;
  bool is_section(const std::string& name) const;
  bool has_key(const std::string& name) const;
  std::string override_name(const std::string& name) const;
  void start_paths_at(const std::filesystem::path& folder);

  Deck& deck_;
  std::string path_;
  const Words* words_;
  toml::table root_;
  std::vector<Override> overrides_;
  std::vector<std::string> methods_;  ///< of each solver, overrides heard
  std::vector<Key> keys_;
};

/// The TOML library makes a table in a table of every part of a key, and takes them apart by
/// recursion, which thousands of them end.
bool has_endless_key(std::string_view toml) {
  constexpr int max_parts = 500;
  int n_dots = 0;
  for (const char c : toml) {
    if (c == '.') ++n_dots;
    if (std::string_view("\n=,{}[]").find(c) != std::string_view::npos) n_dots = 0;
    if (n_dots > max_parts) return true;
  }
  return false;
}

toml::table parse_toml(const std::string& toml_text, const std::string& path) {
  if (has_endless_key(toml_text))
    throw InputError(text(path, ": a key of more than 500 parts; is it a deck?"));
  try {
    return toml::parse(toml_text, path);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    throw InputError(
        text(path, ":", at.line, ":", at.column, ": not valid TOML: ", error.description()));
  }
}

/// `value = <toml>` as a table of one key; empty if that is not what it is.
toml::table try_parse_value(const std::string& toml) {
  if (has_endless_key(toml)) return {};
  try {
    toml::table table = toml::parse("value = " + toml);
    return table.size() == 1 ? table : toml::table{};
  } catch (const toml::parse_error&) {
    return {};
  }
}

Override parse_override(const std::string& words);

/// What keys there are depends on the solvers and their methods: these come before all others.
Parser::Parser(Deck& deck, const std::string& toml_text, const std::string& deck_path,
               std::span<const std::string> overrides, const Words* words)
    : deck_(deck), path_(deck_path), words_(words), root_(parse_toml(toml_text, deck_path)) {
  const toml::array* solvers = root_["solver"].as_array();
  constexpr std::size_t max_solvers = 1000;
  if (solvers && solvers->size() > max_solvers)
    throw InputError(text(path_, ": ", solvers->size(), " solvers; at most ", max_solvers,
                          " can follow one another"));
  if (solvers && solvers->is_array_of_tables()) deck_.solvers.resize(solvers->size());
  for (const std::string& given : overrides) overrides_.push_back(parse_override(given));
  choose_methods();
  keys_ = keys(deck_);
}

void Parser::choose_methods() {
  for (const Solver& solver : deck_.solvers) methods_.push_back(solver.method);
  for (std::size_t stage = 0; stage < deck_.solvers.size(); ++stage) {
    choose_method(stage, root_
                             .at_path(deck_.solvers.size() == 1 && root_["solver"].is_table()
                                          ? "solver.method"
                                          : text("solver[", stage, "].method"))
                             .node());
    for (const Override& given : overrides_)
      if (given.name == solver_section(deck_, stage) + ".method" ||
          given.name == text("solver[", stage, "].method"))
        choose_method(stage, given.table.get("value"));
  }
}

/// What is no method's name is refused where it is read.
void Parser::choose_method(std::size_t stage, const toml::node* node) {
  if (!node || !node->is_string()) return;
  const std::string method = with_words("solver.method", node->as_string()->get());
  if (std::ranges::count(settings::method_words(), method) == 0) return;
  deck_.solvers[stage] = Solver::of(method);
  methods_[stage] = method;
}

void Parser::read_deck() {
  read_section(root_, "");
  start_paths_at(std::filesystem::path(path_).parent_path());
}

bool has_all(const toml::table& section, std::span<const char* const> words) {
  return std::ranges::all_of(words, [&](const char* word) { return section.contains(word); });
}

/// Resolved decks of earlier versions hold the keys of all methods, which had no effect on others,
/// and two of `dm` and `raar` that are gone and made no difference.
bool is_of_earlier_version(const std::string& word, const toml::table& solver) {
  constexpr std::array of_all_methods{"momentum", "raar_beta", "lbfgs_history", "adam_beta1"};
  constexpr std::array gone{"overlap_rounds", "overlap_tolerance"};
  if (std::ranges::count(gone, word) > 0) return has_all(solver, gone);
  return has_all(solver, of_all_methods) && !settings::methods_with_key(word).empty();
}

void Parser::read_section(const toml::table& section, const std::string& prefix) {
  for (const auto& [toml_key, node] : section) {
    const std::string word(toml_key.str());
    const std::string name = prefix + word;
    if (!has_key(name) && is_of_earlier_version(word, section)) continue;
    const bool opens_section = prefix.empty() && is_section(name);
    if (opens_section && node.is_table()) {
      read_section(*node.as_table(), name + ".");
      continue;
    }
    if (prefix.empty() && name == "solver" && node.is_array_of_tables()) {
      read_solvers(*node.as_array());
      continue;
    }
    try {
      if (opens_section)
        throw InputError(text(name, " is a section: write [", name, "] once",
                              name == "solver" ? ", or [[solver]] for each of several" : ""));
      if (prefix.empty() && node.is_table()) throw InputError(unknown_section(name, keys_));
      read_key(name, node);
    } catch (const InputError& error) {
      throw InputError(text(path_, ":", toml_key.source().begin.line, ": ", error.what()));
    }
  }
}

void Parser::read_solvers(const toml::array& solvers) {
  for (std::size_t stage = 0; stage < solvers.size(); ++stage)
    read_section(*solvers[stage].as_table(), solver_section(deck_, stage) + ".");
}

/// @throws InputError if `word` is a key of another method
void refuse_key_of_other_method(const std::string& section, const std::string& method,
                                const std::string& word) {
  const std::vector<std::string> others = settings::methods_with_key(word);
  if (!others.empty())
    throw InputError(text(section, ".", word, " is no key of ", section,
                          ".method = ", quoted(method),
                          ": leave it out, or choose a method that has it: ", joined(others)));
}

bool is_text(const Key& key) {
  return std::holds_alternative<std::string*>(key.field) ||
         std::holds_alternative<std::optional<std::string>*>(key.field);
}

void Parser::read_key(const std::string& name, const toml::node& node) {
  const auto key = std::ranges::find(keys_, name, &Key::name);
  if (key != keys_.end()) {
    const auto* value = node.as_string();
    if (!words_ || !value || !has_words(value->get())) return read_value(node, *key);
    const std::string words = with_words(name, value->get());
    // What stands for a number is read as one.
    toml::table table = is_text(*key) ? toml::table{} : try_parse_value(words);
    if (table.empty()) table.insert("value", words);
    return read_value(*table.get("value"), *key);
  }
  for (std::size_t stage = 0; stage < deck_.solvers.size(); ++stage) {
    const std::string section = solver_section(deck_, stage);
    if (name.starts_with(section + "."))
      refuse_key_of_other_method(section, methods_[stage], name.substr(section.size() + 1));
  }
  throw InputError(unknown_key(name, keys_));
}

std::string Parser::with_words(const std::string& name, const std::string& value) const {
  try {
    return words_ ? deck::with_words(value, *words_) : value;
  } catch (const InputError& error) {
    throw InputError(text(name, ": ", error.what()));
  }
}

bool Parser::has_key(const std::string& name) const {
  return std::ranges::count(keys_, name, &Key::name) > 0;
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

/// A bare word is read as if it stood in quotes, so that a shell's quotes need no second pair.
toml::table parse_override_value(const std::string& words) {
  toml::table table = try_parse_value(words);
  const bool is_broken_toml = !words.empty() && !has_words(words) &&
                              std::string("\"'[{").find(words[0]) != std::string::npos;
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

Override parse_override(const std::string& words) {
  const std::size_t equals = words.find('=');
  const std::string name = trimmed(std::string_view(words).substr(0, equals));
  if (equals == std::string::npos || name.empty()) {
    throw InputError(text("override '", words, "' is not key=value, such as solver.epochs=200"));
  }
  const toml::table table = parse_override_value(trimmed(words.substr(equals + 1)));
  if (table.empty()) {
    throw InputError(text("override '", words,
                          "': what follows = is neither a TOML value nor a bare word; check quotes "
                          "and brackets"));
  }
  return {words, name, table};
}

void Parser::read_overrides() {
  for (const Override& given : overrides_) {
    try {
      const std::string name = override_name(given.name);
      if (is_section(name)) throw InputError(text(name, " is a section: name one of its keys"));
      read_key(name, *given.table.get("value"));
    } catch (const InputError& error) {
      throw InputError(text("override '", given.words, "': ", error.what()));
    }
  }
}

}  // namespace

Deck parse(const std::string& toml_text, const std::string& deck_path,
           std::span<const std::string> overrides, const Words* words) {
  Deck deck;
  Parser parser(deck, toml_text, deck_path, overrides, words);
  parser.read_deck();
  parser.read_overrides();
  put_recipes(deck);
  check(deck);
  return deck;
}

}  // namespace tessera::deck
