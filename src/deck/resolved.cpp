#include <string>

#include "tessera/base/text.hpp"

#include "deck/keys.hpp"
#include "deck/parse.hpp"
#include "describe.hpp"

namespace tessera::deck {

std::string resolved_text(const Deck& deck) {
  Deck copy = deck;
  std::string all;
  std::string open_section;
  for (const Key& key : keys(copy)) {
    const std::optional<std::string> value = value_text(key);
    if (!value) continue;
    const std::size_t dot = key.name.find('.');
    const std::string section = dot == std::string::npos ? "" : key.name.substr(0, dot);
    if (section != open_section) {
      const bool is_one_of_several = section.starts_with("solver[");
      all += is_one_of_several ? "\n[[solver]]\n" : text("\n[", section, "]\n");
      open_section = section;
    }
    const std::string word = section.empty() ? key.name : key.name.substr(dot + 1);
    all += text(word, " = ", *value, "\n");
  }
  return all;
}

}  // namespace tessera::deck
