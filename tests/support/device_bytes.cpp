#include "support/device_bytes.hpp"

#include <algorithm>
#include <string_view>

namespace tessera::testing {
namespace {

struct Counted {
  std::int64_t now = 0;
  std::int64_t peak = 0;
} counted;

bool is_ours(const Kokkos::Tools::SpaceHandle& space, const char* label) {
  return std::string_view(space.name) == device::Device::memory_space::name() &&
         std::string_view(label).starts_with("tessera::");
}

void count(Kokkos::Tools::SpaceHandle space, const char* label, const void*, std::uint64_t bytes) {
  if (!is_ours(space, label)) return;
  counted.now += static_cast<std::int64_t>(bytes);
  counted.peak = std::max(counted.peak, counted.now);
}

void discount(Kokkos::Tools::SpaceHandle space, const char* label, const void*,
              std::uint64_t bytes) {
  if (is_ours(space, label)) counted.now -= static_cast<std::int64_t>(bytes);
}

}  // namespace

DeviceBytes::DeviceBytes() {
  counted = {};
  Kokkos::Tools::Experimental::set_allocate_data_callback(count);
  Kokkos::Tools::Experimental::set_deallocate_data_callback(discount);
}

DeviceBytes::~DeviceBytes() {
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  Kokkos::Tools::Experimental::set_deallocate_data_callback(nullptr);
}

std::int64_t DeviceBytes::peak() const {
  return counted.peak;
}

}  // namespace tessera::testing
