#include "support/allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<int> n_calls{0};
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++n_calls;
  return std::malloc(size);
}
void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
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
