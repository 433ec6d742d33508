#pragma once
/// Threads where there may be no room for one.

#include <system_error>
#include <thread>
#include <utility>

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

}  // namespace tessera
