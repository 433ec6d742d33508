#include "tessera/io/fresh_bytes.hpp"

#include <cstdlib>
#include <new>

#include <sys/mman.h>

namespace tessera::io {

FreshBytes::FreshBytes(std::size_t size) : size_(size) {
  constexpr std::size_t huge_page = 2 << 20;
  const std::size_t n_pages = (size + huge_page - 1) / huge_page;
  const bool is_large = n_pages > 1;
  void* bytes = is_large ? std::aligned_alloc(huge_page, n_pages * huge_page) : std::malloc(size);
  if (!bytes && size > 0) throw std::bad_alloc();
  if (is_large) ::madvise(bytes, n_pages * huge_page, MADV_HUGEPAGE);  // not granted: small ones
  bytes_.reset(static_cast<char*>(bytes));
}

void FreshBytes::Free::operator()(char* bytes) const {
  std::free(bytes);
}

}  // namespace tessera::io
