#include "tessera/base/file_at_work.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <string_view>
#include <tuple>

#include <unistd.h>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera {
namespace {

// What a signal handler may look at: plain memory.
std::array<char, 4096> line_of_file{};
volatile std::sig_atomic_t length_of_line = 0;  ///< 0: no file is being read

void end_of_file(int signal) {
  if (length_of_line == 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  std::ignore =
      ::write(STDERR_FILENO, line_of_file.data(), static_cast<std::size_t>(length_of_line));
  ::_exit(static_cast<int>(ExitCode::bad_input));
}

}  // namespace

FileAtWork::FileAtWork(const std::string& path) : is_outermost_(length_of_line == 0) {
  if (!is_outermost_) return;
  constexpr std::size_t max_path = 3500;
  const std::string line = text("tessera: error: \"", printable(path.substr(0, max_path)),
                                "\" is damaged: the library that reads it crashed over it; copy or "
                                "write it again\n");
  const std::size_t n = std::min(line.size(), line_of_file.size());
  std::memcpy(line_of_file.data(), line.data(), n);
  length_of_line = static_cast<std::sig_atomic_t>(n);
}

FileAtWork::~FileAtWork() {
  if (is_outermost_) length_of_line = 0;
}

void name_file_on_crash() {
#ifndef __SANITIZE_ADDRESS__
  // A stack that has run over has no room for a handler.
  static std::array<char, 1 << 16> room{};
  stack_t stack{};
  stack.ss_sp = room.data();
  stack.ss_size = room.size();
  ::sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_handler = end_of_file;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    ::sigaction(signal, &action, nullptr);
#endif
}

}  // namespace tessera
