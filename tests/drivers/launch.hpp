#pragma once
/// Starts the `tessera` program as a person would, and says what came of it.

#include <chrono>
#include <string>
#include <vector>

#include <sys/types.h>

#include "support/scratch_folder.hpp"

namespace tessera::testing {

using Seconds = std::chrono::duration<double>;

struct Outcome {
  int exit_code = 0;  ///< of a shell: 128 + n after signal n
  std::string out;
  std::string err;
  bool timed_out = false;
};

struct Command {
  int n_ranks = 1;  ///< 1: without mpirun
  std::vector<std::string> arguments;
  std::string folder = {};  ///< to start in; empty: this one
  std::string limit = {};   ///< shell command that every rank runs first, such as "ulimit -f 9000"
};

/// What a program that does not hang may take; sanitizers make it ten times slower.
#ifdef __SANITIZE_ADDRESS__
inline constexpr Seconds hangs_after(600);
#else
inline constexpr Seconds hangs_after(60);
#endif

/// A running program. Ends it, at the latest, when it goes out of scope.
class Job {
 public:
  explicit Job(const Command& command);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Until it ends; a program that needs longer than `max` hangs and is killed.
  Outcome wait(Seconds max = hangs_after);
  /// Whether standard output holds `words` before `max` has passed.
  bool prints(const std::string& words, Seconds max = hangs_after);
  /// The same of standard error.
  bool warns(const std::string& words, Seconds max = hangs_after);
  /// Processes of `tessera` itself, not mpirun.
  std::vector<pid_t> ranks() const;
  /// mpirun, or the only rank.
  pid_t launcher() const { return pid_; }

 private:
  bool writes(const char* stream, const std::string& words, Seconds max);
  bool ended();
  void kill_all();

  const ScratchFolder folder_;
  bool is_mpi_;
  pid_t pid_ = -1;
  int status_ = 0;
};

Outcome run_tessera(const Command& command);

/// Standard error holds exactly one `tessera: error:`, on one line. Returns what follows it.
/// What mpirun itself adds is allowed.
std::string the_error(const Outcome& outcome);

/// What an error with this exit code must look like, quick and on one line.
void expect_error(const Outcome& outcome, int exit_code, const std::vector<std::string>& names);

std::vector<std::string> lines(const std::string& text);

}  // namespace tessera::testing
