#pragma once
/// What plain nvcc compiles of device/memory.hpp: raw pointers and a stream.

#include <cstddef>

namespace tessera::device {

/// `gather_async` on a cudaStream_t. Returns a cudaError_t.
int gather_pinned(void* stream, std::byte* to, const std::byte* from, const int* index, int n,
                  std::size_t piece_bytes);

}  // namespace tessera::device
