#include "device/check_cuda.hpp"
#include "device/free_memory.hpp"
#include "gather_cuda.hpp"

namespace tessera::device {

std::int64_t free_device_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total));
  return static_cast<std::int64_t>(free);
}

void gather_async(const Stream& stream, std::byte* to, const std::byte* from, const int* index,
                  int n, std::size_t piece_bytes) {
  check_cuda(
      static_cast<cudaError_t>(gather_pinned(stream.handle(), to, from, index, n, piece_bytes)));
}

}  // namespace tessera::device
