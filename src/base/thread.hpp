#pragma once
/// Threads where there may be no room for one.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>

#include "tessera/base/error.hpp"

namespace tessera {

/// @throws SystemError with what limits it and the remedy
template <class Work>
std::thread start_thread(Work work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error& error) {
    throw SystemError(
        std::string("no thread could be started (") + error.what() +
        "): memory or the number of processes is limited (ulimit -v, -u); allow more, "
        "or use more ranks");
  }
}

/// Enough for any disk, and ranks of one host do not know of one another here.
inline constexpr int most_threads = 16;

/// Those that this process may use, which a launcher or scheduler may have bound, up to
/// `most_threads`.
inline int processors() {
  cpu_set_t usable;
  const bool is_known = ::sched_getaffinity(0, sizeof usable, &usable) == 0;
  return is_known ? std::clamp(CPU_COUNT(&usable), 1, most_threads) : 1;
}

/// work(thread, i) for every i below `n`, by this thread, number 0, and up to n_threads - 1 others;
/// fewer where no more can be started. `work` throws nothing.
template <class Work>
void share_work(std::size_t n, std::size_t n_threads, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto take_turns = [&](std::size_t thread) {
    for (std::size_t i = next++; i < n; i = next++) work(thread, i);
  };
  std::vector<std::thread> others;
  try {
    while (others.size() + 1 < std::min(n, n_threads))
      others.emplace_back(take_turns, others.size() + 1);
  } catch (const std::system_error&) {  // those that there are do it all
  }
  take_turns(0);
  for (std::thread& other : others) other.join();
}

/// work(first, last) for as many parts of [0, n) as there are threads. `work` throws nothing.
template <class Work>
void share_parts(std::int64_t n, int n_threads, const Work& work) {
  const std::int64_t of_part = (n + n_threads - 1) / n_threads;
  const auto n_parts = static_cast<std::size_t>(n_threads);
  share_work(n_parts, n_parts, [&](std::size_t, std::size_t part) {
    const std::int64_t first = std::min(static_cast<std::int64_t>(part) * of_part, n);
    work(first, std::min(first + of_part, n));
  });
}

/// share_work of work that may throw: when all is done, what the lowest i threw is thrown.
template <class Work>
void share_failing_work(std::size_t n, std::size_t n_threads, const Work& work) {
  std::mutex mutex;
  std::size_t failed = n;
  std::exception_ptr error;
  share_work(n, n_threads, [&](std::size_t thread, std::size_t i) {
    try {
      work(thread, i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (i >= failed) return;
      failed = i;
      error = std::current_exception();
    }
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace tessera
