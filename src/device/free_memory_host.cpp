#include <cstring>

#include "device/free_memory.hpp"

namespace tessera::device {

std::int64_t free_device_bytes() {
  return available_host_bytes();
}

void gather_async(const Stream&, std::byte* to, const std::byte* from, const int* index, int n,
                  std::size_t piece_bytes) {
  for (int j = 0; j < n; ++j)
    std::memcpy(to + j * piece_bytes, from + index[j] * piece_bytes, piece_bytes);
}

}  // namespace tessera::device
