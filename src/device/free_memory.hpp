#pragma once
/// How much memory there is, and patterns picked from pinned memory.

#include <cstddef>
#include <cstdint>

#include "tessera/device/stream.hpp"

namespace tessera::device {

/// Free memory of this rank's device; on a host build what the host has available.
std::int64_t free_device_bytes();

/// Host memory that new arrays may take without swapping.
/// @throws SystemError if the system does not say
std::int64_t available_host_bytes();

/// to[j] = from[index[j]] for j < n, pieces of `piece_bytes`, behind what `stream` holds. `from` is
/// pinned memory, `to` and `index` lie on the device.
void gather_async(const Stream& stream, std::byte* to, const std::byte* from, const int* index,
                  int n, std::size_t piece_bytes);

}  // namespace tessera::device
