#pragma once
/// The files of the pages that are our own, as they are in the source folder.

#include <string_view>

namespace tessera::report::page_parts {

extern const std::string_view page_html;  ///< {{name}} stands where a part goes
extern const std::string_view page_css;
extern const std::string_view values_js;
extern const std::string_view pictures_js;
extern const std::string_view curves_js;
extern const std::string_view page_js;
extern const std::string_view zoom_html;
extern const std::string_view zoom_css;
extern const std::string_view zoom_js;

}  // namespace tessera::report::page_parts
