#include <filesystem>
#include <string>

#include "tessera/base/text.hpp"

#include "deck/keys.hpp"
#include "deck/parse.hpp"
#include "describe.hpp"

namespace tessera::deck {
namespace {

namespace fs = std::filesystem;

/// `path` as it is reached from `folder`, whichever links lead there; the file keeps its own name.
/// As it is where a folder cannot be looked at.
fs::path seen_from(const fs::path& folder, const fs::path& path) {
  std::error_code unknown;
  const fs::path base = fs::weakly_canonical(fs::absolute(folder, unknown), unknown);
  const fs::path parent = fs::weakly_canonical(fs::absolute(path, unknown).parent_path(), unknown);
  if (base.empty() || parent.empty()) return path;
  return (parent / path.filename()).lexically_relative(base);
}

void start_paths_at(const std::string& folder, Deck& deck) {
  for (const Key& key : keys(deck)) {
    if (!key.is_path) continue;
    std::string& path = *std::get<std::string*>(key.field);
    if (!path.empty() && fs::path(path).is_relative()) path = seen_from(folder, path).string();
  }
}

}  // namespace

std::string resolved_text(Deck deck, const std::string& folder) {
  if (!folder.empty()) start_paths_at(folder, deck);
  std::string all;
  std::string open_section;
  for (const Key& key : keys(deck)) {
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
