#pragma once
/// What a run falls back on.

#include <vector>

#include "solvers/fields.hpp"

namespace tessera::run {

/// A copy of what a run reconstructs, made while all of it is finite.
class GoodState {
 public:
  /// Allocates as much as the fields take.
  explicit GoodState(solvers::Fields fields);
  /// The present state from here on. Does not wait for the device.
  void keep(const device::Device& exec) const;
  void put_back(const device::Device& exec) const;

 private:
  solvers::Fields now_;
  solvers::Fields kept_;  ///< the same, in the memory that follows
  std::vector<device::DeviceView<char*>> device_memory_;
  std::vector<device::HostView<char*>> host_memory_;
};

}  // namespace tessera::run
