#pragma once
/// What tests do where their program needs a GPU and there is none.

#include <cstdlib>
#include <string_view>

namespace tessera::testing {

/// ctest's SKIP_RETURN_CODE.
inline constexpr int exit_code_of_skipped = 77;

/// TESSERA_REQUIRE_GPU=1, for machines that must have one: fail, do not skip.
inline bool gpu_is_required() {
  const char* value = std::getenv("TESSERA_REQUIRE_GPU");
  return value && std::string_view(value) == "1";
}

}  // namespace tessera::testing
