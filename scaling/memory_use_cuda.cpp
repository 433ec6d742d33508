#include "device/check_cuda.hpp"
#include "memory_use.hpp"

namespace tessera::scaling {

std::int64_t device_bytes_used() {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  device::check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes));
  return static_cast<std::int64_t>(total_bytes - free_bytes);
}

}  // namespace tessera::scaling
