#include <filesystem>
#include <string>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "deck/check.hpp"
#include "deck/keys.hpp"

namespace tessera::deck {
namespace {

/// Under whatever names: links are followed.
bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code unknown;
  if (std::filesystem::equivalent(a, b, unknown)) return true;
  const auto whole = std::filesystem::weakly_canonical(a, unknown);
  return !whole.empty() && whole == std::filesystem::weakly_canonical(b, unknown);
}

}  // namespace

void check_written_path(Deck deck, const std::string& deck_path, const std::string& name,
                        const std::string& path) {
  const auto refuse = [&](const std::string& what, const std::string& other) {
    // A result is written beside its name first, and the one before may stay there.
    for (const std::string& written : {path, path + ".part", path + ".older"})
      if (!other.empty() && is_same_file(written, other))
        throw InputError(text(name, " = \"", path, "\" would be written over ", what, " (\"", other,
                              "\"); name another file"));
  };
  refuse("the deck", deck_path);
  for (const Key& key : keys(deck)) {
    const bool goes_on = name == "output.file" && key.name == "run.resume";
    if (!key.is_path || key.name == name || goes_on) continue;
    refuse(key.name, *std::get<std::string*>(key.field));
  }
}

}  // namespace tessera::deck
