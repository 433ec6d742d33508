#pragma once
/// The page around what it shows.

#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace tessera::report {

/// One HTML page with styles, scripts, the plotting library and `contents`; it requests nothing.
/// @throws InputError if the plotting library is not on this machine
std::string page_of(const nlohmann::ordered_json& contents);

// What pages have in common:

/// Empty: there is no such file.
std::string contents_of_file(const std::string& path);

/// As a script's text, which no "</script>" in a title must end.
std::string as_script(const nlohmann::ordered_json& contents);

/// `frame` with each {{name}} replaced by that part.
std::string filled(std::string_view frame, const std::map<std::string_view, std::string>& parts);

}  // namespace tessera::report
