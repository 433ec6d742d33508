#include "deck_draft.hpp"

#include <algorithm>
#include <cstdlib>

#include "tessera/base/text.hpp"

namespace tessera::analysis {
namespace {

std::string section_of(const std::string& key) {
  const std::size_t dot = key.find('.');
  return dot == std::string::npos ? "" : key.substr(0, dot);
}

}  // namespace

void DeckDraft::set(const std::string& key, const std::string& value, const std::string& comment) {
  if (!has(key)) lines_.push_back({key, value, comment});
}

void DeckDraft::change(const std::string& key, const std::string& value,
                       const std::string& comment) {
  remove(key);
  lines_.push_back({key, value, comment});
}

void DeckDraft::remove(const std::string& key) {
  std::erase_if(lines_, [&](const Line& line) { return line.key == key; });
}

void DeckDraft::ask(const std::string& key, const std::string& what) {
  if (!has(key)) lines_.push_back({key, "", what});
}

bool DeckDraft::has(const std::string& key) const {
  return std::ranges::any_of(lines_, [&](const Line& line) { return line.key == key; });
}

std::optional<double> DeckDraft::number(const std::string& key) const {
  const auto line = std::ranges::find(lines_, key, &Line::key);
  if (line == lines_.end()) return {};
  char* end = nullptr;
  const double value = std::strtod(line->value.c_str(), &end);
  if (line->value.empty() || *end != '\0') return {};
  return value;
}

std::optional<double> DeckDraft::first_of_pair(const std::string& key) const {
  const auto line = std::ranges::find(lines_, key, &Line::key);
  if (line == lines_.end() || !line->value.starts_with('[')) return {};
  return std::strtod(line->value.c_str() + 1, nullptr);
}

std::vector<std::string> DeckDraft::asked() const {
  std::vector<std::string> keys;
  for (const Line& line : lines_)
    if (line.value.empty()) keys.push_back(line.key);
  return keys;
}

std::string DeckDraft::toml(const std::string& heading) const {
  std::string all = heading;
  for (const std::string section :
       {"", "data", "experiment", "probe", "object", "solver", "refine", "output"}) {
    bool is_first = true;
    for (const Line& line : lines_) {
      if (section_of(line.key) != section) continue;
      if (is_first && !section.empty()) all += text("\n[", section, "]\n");
      is_first = false;
      const std::string name = section.empty() ? line.key : line.key.substr(section.size() + 1);
      std::string words =
          line.value.empty() ? text("# ", name, " = ") : text(name, " = ", line.value);
      if (!line.comment.empty()) {
        words.resize(std::max<std::size_t>(words.size() + 1, 44), ' ');
        words += text("# ", line.value.empty() ? "FILL IN: " : "", line.comment);
      }
      all += words + '\n';
    }
  }
  return all;
}

}  // namespace tessera::analysis
