#pragma once
#include <memory>

#include "tessera/comm/communicator.hpp"
#include "tessera/device/runtime.hpp"

namespace tessera::run {

/// Give every rank its GPU, start Kokkos there, and print a line for each rank; in a build for
/// hosts only start Kokkos. Collective. What it returns must outlive everything on the device.
/// @param share_gpu whether several ranks may be on one GPU
/// @throws AgreedError if a rank has no usable GPU, or two have the same against `share_gpu`
std::unique_ptr<device::Runtime> start_device(const comm::Communicator& comm, bool share_gpu);

}  // namespace tessera::run
