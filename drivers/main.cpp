// The `tessera` program: MPI lives here, errors reach the user here, once.

#include <csignal>

#include <fmt/core.h>

#include "tessera/base/text.hpp"
#include "tessera/device/runtime.hpp"

#include "base/file_at_work.hpp"
#include "command_line.hpp"
#include "run/stop_signals.hpp"

namespace {

using namespace tessera;

int run(int argc, char** argv, const comm::Communicator& world) {
  const auto action = drivers::parse_command_line(argc, argv, world.is_root());
  return static_cast<int>(action ? (*action)(world) : ExitCode::done);
}

/// Libraries end their messages with line breaks, or write several lines, or a page; a value that
/// is quoted may be a megabyte: then beginning and end are left, for the remedy comes last.
std::string on_one_line(const std::string& message) {
  constexpr std::size_t max = 2000;
  std::string line;
  for (const char c : device::short_of_memory(message)) {
    const bool is_space = c == '\n' || c == '\r' || c == ' ';
    if (!is_space) line += c;
    if (is_space && !line.empty() && line.back() != ' ') line += ' ';
  }
  line = printable(line.substr(0, line.find_last_not_of(' ') + 1));
  if (line.size() <= max) return line;
  return line.substr(0, max / 2) + " ... " + line.substr(line.size() - max / 2);
}

int run_or_abort(int argc, char** argv, const comm::Communicator& world) {
  try {
    return run(argc, argv, world);
  } catch (const AgreedError& error) {
    // Every rank has heard of it: rank 0 prints it and all leave together.
    if (world.is_root()) fmt::print(stderr, "tessera: error: {}\n", on_one_line(error.what()));
    const int exit_code = static_cast<int>(error.exit_code());
    // After a failed write HDF5 holds a file that it cannot close, and would crash in MPI_Finalize.
    if (error.exit_code() == ExitCode::failed) {
      world.barrier();  // rank 0 has spoken
      world.abort(exit_code);
    }
    return exit_code;
  } catch (const std::exception& error) {
    // This rank's alone: the others wait for it somewhere, so the job must be ended.
    const auto* known = dynamic_cast<const Error*>(&error);
    fmt::print(stderr, "tessera: error: [rank {}] {}\n", world.rank(), on_one_line(error.what()));
    world.abort(static_cast<int>(known ? known->exit_code() : ExitCode::failed));
  }
}

}  // namespace

int main(int argc, char** argv) {
  run::expect_signals();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of the write, not the end
  comm::Environment environment(argc, argv);
  name_file_on_crash();  // after MPI, which has handlers of its own
  const comm::Communicator world;
  return run_or_abort(argc, argv, world);
}
