#include <cuda_runtime_api.h>

#include "tessera/base/error.hpp"

#include "memory_use.hpp"

namespace tessera::scaling {

std::int64_t device_bytes_used() {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess)
    throw SystemError("cudaMemGetInfo failed: the device's memory cannot be read");
  return static_cast<std::int64_t>(total_bytes - free_bytes);
}

}  // namespace tessera::scaling
