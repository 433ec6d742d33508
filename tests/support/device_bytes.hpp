#pragma once
/// How many bytes of Kokkos' memory this program's own arrays take, by the callbacks for tools.

#include <cstdint>

#include "tessera/device/device.hpp"

namespace tessera::testing {

/// Counts arrays labelled "tessera::" as long as it lives; one at a time.
class DeviceBytes {
 public:
  DeviceBytes();
  ~DeviceBytes();
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;

  /// The most that lay side by side.
  std::int64_t peak() const;
};

}  // namespace tessera::testing
