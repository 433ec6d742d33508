#include <sys/resource.h>

#include "memory_use.hpp"

namespace tessera::scaling {

std::int64_t device_bytes_used() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * std::int64_t{1024};  // Linux counts in KiB
}

}  // namespace tessera::scaling
