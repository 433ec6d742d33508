#pragma once
/// The errors that reach the user. Each names the key or path, the value, what is allowed and the
/// remedy.

#include <stdexcept>
#include <string>

namespace tessera {

/// What the program returns to the shell.
enum class ExitCode : int {
  done = 0,
  failed = 1,
  bad_input = 2,
  not_finite = 3,
  unfinished = 75,
  interrupted = 130
};

/// Base of all errors that Tessera throws on purpose; carries the program's exit code.
class Error : public std::runtime_error {
 public:
  Error(ExitCode exit_code, const std::string& what)
      : std::runtime_error(what), exit_code_(exit_code) {}
  ExitCode exit_code() const { return exit_code_; }

 private:
  ExitCode exit_code_;
};

/// The deck, the data or the command line is not usable.
class InputError : public Error {
 public:
  explicit InputError(const std::string& what) : Error(ExitCode::bad_input, what) {}
};

/// A library or the operating system refused a call.
class SystemError : public Error {
 public:
  explicit SystemError(const std::string& what) : Error(ExitCode::failed, what) {}
};

/// An error that every rank of a communicator has been told of, so that all may leave together.
class AgreedError : public Error {
 public:
  using Error::Error;
};

}  // namespace tessera
