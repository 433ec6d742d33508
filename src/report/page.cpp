#include "page.hpp"

#include <cstdlib>
#include <fstream>
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
  const std::string script = contents_of_file(path);
  if (script.empty())
    throw InputError(text("a report needs Chart.js 3, which is not at \"", path,
                          "\"; install Debian's package libjs-chart.js, or let ", library_variable,
                          " name a chart.min.js"));
  return script;
}

}  // namespace

std::string contents_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream words;
  if (in) words << in.rdbuf();
  return words.str();
}

std::string as_script(const Json& contents) {
  const std::string json = contents.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  for (const char c : json) c == '<' ? safe += "\\u003c" : safe += c;
  return safe;
}

std::string filled(std::string_view frame, const std::map<std::string_view, std::string>& parts) {
  std::string page;
  for (std::size_t at = frame.find("{{"); at != frame.npos; at = frame.find("{{")) {
    const std::size_t end = frame.find("}}", at);
    page.append(frame.substr(0, at)).append(parts.at(frame.substr(at + 2, end - at - 2)));
    frame.remove_prefix(end + 2);
  }
  return page.append(frame);
}

void check_plotting_library() {
  read_library();
}

std::string page_of(const Json& contents) {
  return filled(page_parts::page_html,
                {{"style", std::string(page_parts::page_css)},
                 {"library", read_library()},
                 {"contents", as_script(contents)},
                 {"script", text(page_parts::values_js, page_parts::pictures_js,
                                 page_parts::curves_js, page_parts::page_js)}});
}

}  // namespace tessera::report
