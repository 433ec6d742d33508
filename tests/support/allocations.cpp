#include "support/allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<int> n_calls{0};
}

void* operator new(std::size_t size) {
  ++n_calls;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace tessera::testing {

int n_allocations() {
  return n_calls;
}

}  // namespace tessera::testing
