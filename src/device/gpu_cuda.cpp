// NVIDIA GPUs, as CUDA's runtime and sysfs describe them.

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>

#include "tessera/base/error.hpp"
#include "tessera/base/host.hpp"
#include "tessera/base/text.hpp"
#include "tessera/device/gpu.hpp"

#include "device/check_cuda.hpp"

namespace tessera::device {
namespace {

std::string version_text(int version) {
  return text(version / 1000, '.', version % 1000 / 10);
}

int runtime_version() {
  int version = 0;
  check_cuda(cudaRuntimeGetVersion(&version));
  return version;
}

/// 0: there is no driver.
int driver_version() {
  int version = 0;
  check_cuda(cudaDriverGetVersion(&version));
  return version;
}

std::string old_driver() {
  const int driver = driver_version();
  const std::string there = driver == 0 ? "there is no NVIDIA driver on host " + host_name()
                                        : text("the NVIDIA driver on host ", host_name(),
                                               " is too old: it knows CUDA ", version_text(driver));
  return text(there, ", this program was built with CUDA ", version_text(runtime_version()),
              "; install a newer driver, build with an older CUDA, or use the build for hosts "
              "(cmake --preset default)");
}

std::string no_gpu() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return text("no GPU is visible on host ", host_name(), ": CUDA_VISIBLE_DEVICES ",
              visible ? text("= \"", visible, '"') : "is not set", ", driver for CUDA ",
              version_text(driver_version()),
              "; correct the variable, ask the scheduler for GPUs (Slurm: --gpus-per-node), or use "
              "the build for hosts (cmake --preset default)");
}

/// UUID in nvidia-smi's form.
std::string uuid_text(const cudaUUID_t& uuid) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "GPU";
  for (int i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    out += digits[byte / 16];
    out += digits[byte % 16];
  }
  return out;
}

std::string pci_bus_id(int index) {
  std::array<char, 32> id{};
  check_cuda(cudaDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), index));
  std::string text = id.data();
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

int numa_node(const std::string& bus_id) {
  int node = -1;
  std::ifstream("/sys/bus/pci/devices/" + bus_id + "/numa_node") >> node;
  return node;
}

/// Only NVLink has atomics of its own; PCIe peers do without.
int n_nvlink_peers(int index, int n_visible) {
  int n = 0;
  for (int other = 0; other < n_visible; ++other) {
    if (other == index) continue;
    int has_atomics = 0;
    check_cuda(
        cudaDeviceGetP2PAttribute(&has_atomics, cudaDevP2PAttrNativeAtomicSupported, index, other));
    n += has_atomics;
  }
  return n;
}

Gpu current_gpu(int index, int n_visible) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, index));
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes));
  const std::string bus_id = pci_bus_id(index);
  return {.index = index,
          .name = properties.name,
          .uuid = uuid_text(properties.uuid),
          .pci_bus_id = bus_id,
          .total_bytes = static_cast<std::int64_t>(total_bytes),
          .free_bytes = static_cast<std::int64_t>(free_bytes),
          .cache_bytes = properties.l2CacheSize,
          .numa_node = numa_node(bus_id),
          .compute_capability = 10 * properties.major + properties.minor,
          .n_visible = n_visible,
          .n_nvlink_peers = n_nvlink_peers(index, n_visible)};
}

}  // namespace

std::optional<std::string> missing_gpu() {
  int n_visible = 0;
  const cudaError_t code = cudaGetDeviceCount(&n_visible);
  if (code == cudaErrorInsufficientDriver) return old_driver();
  if (code == cudaErrorNoDevice || (code == cudaSuccess && n_visible == 0)) return no_gpu();
  check_cuda(code);
  return {};
}

std::optional<Gpu> use_gpu(int local_rank) {
  if (const auto reason = missing_gpu()) throw SystemError(*reason);
  int n_visible = 0;
  check_cuda(cudaGetDeviceCount(&n_visible));
  const int index = gpu_index(local_rank, n_visible);
  check_cuda(cudaSetDevice(index));
  return current_gpu(index, n_visible);
}

std::string gpu_versions() {
  const int driver = driver_version();
  return text("CUDA ", version_text(runtime_version()), ", ",
              driver == 0 ? "no driver" : "driver for CUDA " + version_text(driver));
}

}  // namespace tessera::device
