#pragma once
/// The page around what it shows.

#include <string>

#include <nlohmann/json.hpp>

namespace tessera::report {

/// One HTML page with styles, scripts, the plotting library and `contents`; it requests nothing.
/// @throws InputError if the plotting library is not on this machine
std::string page_of(const nlohmann::ordered_json& contents);

}  // namespace tessera::report
