#include "analysis/inspect.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tessera/base/naming.hpp"
#include "tessera/base/text.hpp"

#include "file_contents.hpp"
#include "inspect_sections.hpp"

namespace tessera::analysis {
namespace {

std::string scalar_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// `name: value` lines, sections indented; lists of plain values on one line.
std::string as_text(const Json& section, int indent) {
  constexpr int column = 34;
  std::string out;
  for (const auto& [name, value] : section.items()) {
    const std::string start(indent, ' ');
    if (value.is_object()) {
      if (!out.empty()) out += "\n";
      out.append(start).append(name).append("\n").append(as_text(value, indent + 2));
      continue;
    }
    std::string line = scalar_text(value);
    if (value.is_array()) {
      std::vector<std::string> parts;
      for (const Json& part : value) parts.push_back(scalar_text(part));
      line = joined(parts);
    }
    // Texts of several lines keep their column.
    while (line.ends_with('\n')) line.pop_back();
    for (std::size_t at = line.find('\n'); at != std::string::npos; at = line.find('\n', at + 1))
      line.insert(at + 1, std::string(column, ' '));
    out += fmt::format("{}{:<{}}{}", out.empty() ? "" : "\n", start + name + " ", column, line);
  }
  return out;
}

Json report(const std::string& path) {
  if (!is_deck(path)) {
    const io::File file = io::File::open(path);
    if (is_result(file)) return result_report(file);
  }
  return scan_report(scan_contents(path));
}

}  // namespace

std::string inspect_report(const std::string& path, bool json) {
  const Json found = naming_file(path, [&] { return report(path); });
  return json ? found.dump(2, ' ', false, Json::error_handler_t::replace) : as_text(found, 0);
}

}  // namespace tessera::analysis
