#pragma once
/// What tests write is removed, or kept for `./dev fuzz` to start from.

#include <cstdlib>
#include <filesystem>

namespace tessera::testing {

/// Removes a test's folder; a copy is left in the folder TESSERA_KEEP_TEST_FILES, where the
/// environment names one.
inline void remove_or_keep(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (const char* kept = std::getenv("TESSERA_KEEP_TEST_FILES"))
    std::filesystem::copy(folder, kept / folder.filename(),
                          std::filesystem::copy_options::recursive, ignored);
  std::filesystem::remove_all(folder, ignored);
}

}  // namespace tessera::testing
