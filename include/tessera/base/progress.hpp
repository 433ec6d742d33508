#pragma once
/// Signs of life of this process. A process is one rank, and whatever it does is looked at from
/// outside, by comm::Watchdog: so this is one place for all. From any thread; costs nanoseconds.

#include <cstdint>

namespace tessera {

/// What the process is at while this lives; its beginning and its end are steps.
class Doing {
 public:
  /// @param what "an all-reduce"; lives as long as the program
  explicit Doing(const char* what);
  ~Doing();
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;

 private:
  const char* before_;
};

/// A step within what the process is at.
void note_progress();

struct Progress {
  std::uint64_t steps = 0;
  const char* doing = "";
};
Progress progress_so_far();

}  // namespace tessera
