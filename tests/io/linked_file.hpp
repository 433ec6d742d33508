#pragma once
/// Files that hold links to others. By this rank alone.

#include <string>

namespace tessera::testing {

/// In a file that is there, with the groups that the name needs.
void add_link(const std::string& path, const std::string& name, const std::string& to_file,
              const std::string& to_name);

/// A file that holds nothing but that.
void write_link(const std::string& path, const std::string& name, const std::string& to_file,
                const std::string& to_name);

}  // namespace tessera::testing
