#pragma once
/// How much memory is taken where the arrays are.

#include <cstdint>

namespace tessera::scaling {

/// On a GPU what all processes hold of it now; on a host the most that this process has held.
std::int64_t device_bytes_used();

}  // namespace tessera::scaling
