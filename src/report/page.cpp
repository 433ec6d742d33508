#include "page.hpp"

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "page_parts.hpp"
#include "report/report.hpp"

namespace tessera::report {
namespace {

constexpr const char* library_variable = "TESSERA_CHART_JS";

std::string library_path() {
  const char* given = std::getenv(library_variable);
  return given ? given : "/usr/share/javascript/chart.js/chart.min.js";
}

std::string read_library() {
  const std::string path = library_path();
  std::ifstream in(path, std::ios::binary);
  std::ostringstream script;
  if (in) script << in.rdbuf();
  if (script.str().empty())
    throw InputError(text("a report needs Chart.js 3, which is not at \"", path,
                          "\"; install Debian's package libjs-chart.js, or let ", library_variable,
                          " name a chart.min.js"));
  return script.str();
}

/// As a script's text, which no "</script>" in a title must end.
std::string embedded(const Json& contents) {
  const std::string json = contents.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  for (const char c : json) c == '<' ? safe += "\\u003c" : safe += c;
  return safe;
}

}  // namespace

void check_plotting_library() {
  read_library();
}

std::string page_of(const Json& contents) {
  const std::map<std::string_view, std::string> parts{
      {"style", std::string(page_parts::page_css)},
      {"library", read_library()},
      {"contents", embedded(contents)},
      {"script", text(page_parts::values_js, page_parts::pictures_js, page_parts::curves_js,
                      page_parts::page_js)}};
  std::string page;
  std::string_view rest = page_parts::page_html;
  for (std::size_t at = rest.find("{{"); at != rest.npos; at = rest.find("{{")) {
    const std::size_t end = rest.find("}}", at);
    page.append(rest.substr(0, at)).append(parts.at(rest.substr(at + 2, end - at - 2)));
    rest.remove_prefix(end + 2);
  }
  return page.append(rest);
}

}  // namespace tessera::report
