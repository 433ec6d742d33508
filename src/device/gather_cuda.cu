// A gather that reads pinned memory by itself: a copy for each small piece would
// take longer to start than to run.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

#include "gather_cuda.hpp"

namespace tessera::device {
namespace {

template <class Word>
__global__ void gather(Word* to, const Word* from, const int* index, std::size_t n_words,
                       std::size_t words_per_piece) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n_words;
       i += stride) {
    const std::size_t piece = i / words_per_piece;
    to[i] = from[static_cast<std::size_t>(index[piece]) * words_per_piece + i % words_per_piece];
  }
}

template <class Word>
cudaError_t gather_words(void* stream, std::byte* to, const std::byte* from, const int* index,
                         int n, std::size_t piece_bytes) {
  constexpr unsigned threads = 512;
  // The link is the limit: few blocks fill it and leave the others to the kernels.
  constexpr std::size_t max_blocks = 64;
  const std::size_t words_per_piece = piece_bytes / sizeof(Word);
  const std::size_t n_words = words_per_piece * static_cast<std::size_t>(n);
  const auto blocks =
      static_cast<unsigned>(std::min(max_blocks, (n_words + threads - 1) / threads));
  if (blocks == 0) return cudaSuccess;
  gather<<<blocks, threads, 0, static_cast<cudaStream_t>(stream)>>>(
      reinterpret_cast<Word*>(to), reinterpret_cast<const Word*>(from), index, n_words,
      words_per_piece);
  return cudaGetLastError();
}

}  // namespace

int gather_pinned(void* stream, std::byte* to, const std::byte* from, const int* index, int n,
                  std::size_t piece_bytes) {
  return piece_bytes % sizeof(uint4) == 0
             ? gather_words<uint4>(stream, to, from, index, n, piece_bytes)
             : gather_words<std::uint8_t>(stream, to, from, index, n, piece_bytes);
}

}  // namespace tessera::device
