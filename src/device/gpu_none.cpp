// A build for hosts: there is no GPU to choose.

#include "tessera/device/gpu.hpp"

namespace tessera::device {

std::optional<std::string> missing_gpu() {
  return {};
}

std::optional<Gpu> use_gpu(int) {
  return {};
}

std::string gpu_versions() {
  return "none in this build";
}

}  // namespace tessera::device
