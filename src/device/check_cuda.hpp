#pragma once
/// For files that call CUDA; nothing else includes it.

#include <source_location>

#include <cuda_runtime_api.h>

#include "tessera/base/error.hpp"
#include "tessera/base/host.hpp"
#include "tessera/base/text.hpp"

namespace tessera::device {

/// @throws SystemError with CUDA's own text and the place of the call
inline void check_cuda(cudaError_t code,
                       std::source_location where = std::source_location::current()) {
  if (code == cudaSuccess) return;
  throw SystemError(text("CUDA on host ", host_name(), ": ", cudaGetErrorString(code), " (",
                         cudaGetErrorName(code), ", in ", where.function_name(),
                         "); nvidia-smi shows what state the GPUs are in"));
}

}  // namespace tessera::device
