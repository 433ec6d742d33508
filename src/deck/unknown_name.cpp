#include "unknown_name.hpp"

#include <algorithm>

#include "tessera/base/text.hpp"

namespace tessera::deck {

namespace {

struct SplitName {
  std::string section;  ///< empty at the top of the deck
  std::string word;
};

SplitName split(const std::string& name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

std::vector<std::string> sections_of(const std::vector<Key>& keys) {
  std::vector<std::string> sections;
  for (const Key& key : keys) {
    const std::string section = split(key.name).section;
    if (!section.empty() && std::ranges::find(sections, section) == sections.end()) {
      sections.push_back(section);
    }
  }
  return sections;
}

std::vector<std::string> words_of(const std::string& section, const std::vector<Key>& keys) {
  std::vector<std::string> words;
  for (const Key& key : keys) {
    const SplitName known = split(key.name);
    if (known.section == section) words.push_back(known.word);
  }
  return words;
}

/// The right word in the wrong section, else a slip in the word, else a slip in the whole name.
std::string meant_key(const std::string& name, const std::vector<Key>& keys) {
  const SplitName unknown = split(name);
  std::vector<std::string> names;
  for (const Key& key : keys) {
    if (split(key.name).word == unknown.word) names.push_back(key.name);
  }
  if (!names.empty())
    return nearest_name(name, names).empty() ? names[0] : nearest_name(name, names);
  const std::string word = nearest_name(unknown.word, words_of(unknown.section, keys));
  if (!word.empty()) return unknown.section.empty() ? word : unknown.section + "." + word;
  for (const Key& key : keys) names.push_back(key.name);
  return nearest_name(name, names);
}

}  // namespace

std::string unknown_key(const std::string& name, const std::vector<Key>& keys) {
  const std::string meant = meant_key(name, keys);
  if (!meant.empty()) return text("unknown key ", name, "; did you mean ", meant, "?");
  const std::vector<std::string> words = words_of(split(name).section, keys);
  return text("unknown key ", name, "; known here: ", joined(words));
}

std::string unknown_section(const std::string& name, const std::vector<Key>& keys) {
  const std::vector<std::string> sections = sections_of(keys);
  const std::string meant = nearest_name(name, sections);
  if (!meant.empty()) return text("unknown section [", name, "]; did you mean [", meant, "]?");
  return text("unknown section [", name, "]; sections are ", joined(sections));
}

}  // namespace tessera::deck
