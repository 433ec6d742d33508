#pragma once
/// Building and comparing short texts for messages.

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Concatenate anything that can be streamed.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// The candidate with the smallest edit distance to `name`; empty when none is close.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// `words` with control characters other than line breaks and tabs as `\x1b`: names that files hold
/// must not steer a terminal.
std::string printable(std::string_view words);

/// `a, b, c`
std::string joined(const std::vector<std::string>& parts, std::string_view separator = ", ");

}  // namespace tessera
