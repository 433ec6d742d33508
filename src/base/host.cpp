#include "tessera/base/host.hpp"

#include <array>

#include <unistd.h>

namespace tessera {

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace tessera
