#include "tessera/base/progress.hpp"

#include <atomic>

namespace tessera {
namespace {

std::atomic<std::uint64_t> steps{0};
std::atomic<const char*> doing{"its start"};

}  // namespace

Doing::Doing(const char* what) : before_(doing.exchange(what, std::memory_order_relaxed)) {
  note_progress();
}

Doing::~Doing() {
  doing.store(before_, std::memory_order_relaxed);
  note_progress();
}

void note_progress() {
  steps.fetch_add(1, std::memory_order_relaxed);
}

Progress progress_so_far() {
  return {steps.load(std::memory_order_relaxed), doing.load(std::memory_order_relaxed)};
}

}  // namespace tessera
