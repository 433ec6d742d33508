#pragma once
/// A page in headless Chromium.

#include <optional>
#include <string>

namespace tessera::testing {

struct Shown {
  std::string page;     ///< the document as the scripts have left it
  std::string console;  ///< what the browser says, its console among it
};

/// Absent: there is no Chromium here.
std::optional<Shown> shown_in_chromium(const std::string& path, const std::string& scratch_folder);

}  // namespace tessera::testing
