#include <fstream>
#include <limits>
#include <string>

#include "tessera/base/error.hpp"

#include "device/free_memory.hpp"

namespace tessera::device {

std::int64_t available_host_bytes() {
  std::ifstream file("/proc/meminfo");
  std::int64_t kibibytes = 0;
  for (std::string name; file >> name;
       file.ignore(std::numeric_limits<std::streamsize>::max(), '\n'))
    if (name == "MemAvailable:" && file >> kibibytes) return 1024 * kibibytes;
  throw SystemError(
      "/proc/meminfo does not say how much memory is available; set run.host_memory_bytes");
}

}  // namespace tessera::device
