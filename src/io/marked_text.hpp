#pragma once
/// Words in small text files that instruments write beside their data.

#include <string>

namespace tessera::io {

/// The first 256 KiB of a file; empty if it cannot be read.
std::string read_words(const std::string& path);

/// What stands behind `before`, until `end`; empty if it is not there.
std::string between(const std::string& words, const std::string& before, const std::string& end);

/// Of an XML element without attributes.
std::string element(const std::string& words, const std::string& name);

}  // namespace tessera::io
