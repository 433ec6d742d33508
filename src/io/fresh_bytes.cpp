#include "tessera/io/fresh_bytes.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include <sys/mman.h>

#include "base/thread.hpp"

namespace tessera::io {
namespace {

constexpr std::size_t huge_page = 2 << 20;

}  // namespace

FreshBytes::FreshBytes(std::size_t size) : size_(size), capacity_(size) {
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

CopyMemory::~CopyMemory() {
  if (thread_.joinable()) thread_.join();
}

void CopyMemory::prepare(std::vector<std::size_t> sizes) {
  std::erase_if(sizes, [](std::size_t size) { return size <= huge_page; });
  thread_ = start_thread([this, sizes = std::move(sizes)] {
    constexpr std::size_t page = 4096;
    try {
      for (const std::size_t size : sizes) {
        const FreshBytes& bytes = kept_.emplace_back(size);
        for (std::size_t i = 0; i < size; i += page) bytes.data()[i] = 0;
      }
    } catch (const std::bad_alloc&) {
      return;  // who takes it will say so
    }
  });
}

FreshBytes CopyMemory::take(std::size_t size) {
  if (size <= huge_page) return FreshBytes(size);
  if (thread_.joinable()) thread_.join();
  const auto has_room = [&](const FreshBytes& kept) { return kept.capacity() >= size; };
  auto found = std::ranges::find_if(kept_, has_room);
  if (found == kept_.end()) {
    // One that is too small goes: together they never grow beyond what was in use at once.
    if (!kept_.empty()) kept_.pop_back();
    return FreshBytes(size);
  }
  FreshBytes bytes = std::move(*found);
  kept_.erase(found);
  bytes.resize(size);
  return bytes;
}

void CopyMemory::give_back(FreshBytes bytes) {
  if (bytes.capacity() > huge_page) kept_.push_back(std::move(bytes));
}

}  // namespace tessera::io
