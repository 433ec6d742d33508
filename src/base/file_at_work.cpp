#include "base/file_at_work.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string_view>
#include <tuple>

#include <fcntl.h>
#include <unistd.h>

#include "tessera/base/error.hpp"

namespace tessera {
namespace {

// What a signal handler may look at: plain memory.
std::array<char, 4096> line_of_file{};
volatile std::sig_atomic_t length_of_line = 0;  ///< 0: no file is being read
bool ticks = false;
timer_t timer{};  ///< of the main thread's processor time
itimerspec tick{};
long long bytes_at_tick = -1;  ///< read by this process; -1: not known

void say(std::string_view words) {
  std::ignore = ::write(STDERR_FILENO, words.data(), words.size());
}

[[noreturn]] void end_of_file(std::string_view what_happened) {
  say({line_of_file.data(), static_cast<std::size_t>(length_of_line)});
  say(what_happened);
  say(" over it; copy or write it again, or, if memory is limited, give it more\n");
  ::_exit(static_cast<int>(ExitCode::bad_input));
}

void crashed(int signal) {
  if (length_of_line > 0) end_of_file("crashed");
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// What this process has read, from wherever, before it was asked and with the answer; -1: not
/// known.
struct BytesRead {
  long long before = -1;
  long long after = -1;
};

BytesRead bytes_read() {
  std::array<char, 256> words{};
  const int file = ::open("/proc/self/io", O_RDONLY | O_CLOEXEC);
  const ssize_t n = file < 0 ? -1 : ::read(file, words.data(), words.size());
  ::close(file);
  const std::string_view all(words.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  const std::string_view name = "rchar: ";
  if (!all.starts_with(name)) return {};
  long long bytes = 0;
  for (std::size_t i = name.size(); i < all.size() && all[i] >= '0' && all[i] <= '9'; ++i)
    bytes = 10 * bytes + (all[i] - '0');
  return {bytes, bytes + n};
}

/// A library that has computed from tick to tick and read nothing goes round in circles.
void ticked(int) {
  if (length_of_line == 0) return;
  const BytesRead bytes = bytes_read();
  if (bytes.before >= 0 && bytes.before == bytes_at_tick) end_of_file("did not come to an end");
  bytes_at_tick = bytes.after;
}

void on_signal(int signal, void (*handler)(int), int flags) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

FileAtWork::FileAtWork(const std::string& path) : is_outermost_(length_of_line == 0) {
  if (!is_outermost_) return;
  std::size_t n = 0;
  const auto add = [&](std::string_view words) {
    const std::size_t n_fit = std::min(words.size(), line_of_file.size() - n);
    std::memcpy(line_of_file.data() + n, words.data(), n_fit);
    n += n_fit;
  };
  add("tessera: error: \"");
  constexpr std::size_t max_path = 3500;
  for (const char c : std::string_view(path).substr(0, max_path)) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto code = static_cast<unsigned char>(c);
    const bool is_control = code < ' ' || code == 127;
    if (is_control)
      for (const char part : {'\\', 'x', digits[code / 16], digits[code % 16]}) add({&part, 1});
    else
      add({&c, 1});
  }
  add("\" is damaged: the library that reads it ");
  bytes_at_tick = -1;
  length_of_line = static_cast<std::sig_atomic_t>(n);
  if (ticks) ::timer_settime(timer, 0, &tick, nullptr);
}

FileAtWork::~FileAtWork() {
  if (!is_outermost_) return;
  length_of_line = 0;
  constexpr itimerspec never{};
  if (ticks) ::timer_settime(timer, 0, &never, nullptr);
}

void name_file_on_crash(std::chrono::milliseconds idle) {
#ifndef __SANITIZE_ADDRESS__
  // A stack that has run over has no room for a handler.
  static std::array<char, 1 << 16> room{};
  stack_t stack{};
  stack.ss_sp = room.data();
  stack.ss_size = room.size();
  ::sigaltstack(&stack, nullptr);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    on_signal(signal, crashed, SA_ONSTACK);
  on_signal(SIGVTALRM, ticked, SA_ONSTACK | SA_RESTART);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGVTALRM;
  ticks = ::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0;
  tick.it_value.tv_sec = idle.count() / 1000;
  tick.it_value.tv_nsec = idle.count() % 1000 * 1000000;
  tick.it_interval = tick.it_value;
#endif
}

}  // namespace tessera
