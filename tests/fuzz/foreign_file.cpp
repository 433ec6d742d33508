#include "fuzz/foreign_file.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "tessera/base/error.hpp"

namespace tessera::fuzz {
namespace {

namespace fs = std::filesystem;

/// Removed at exit; what a crash leaves, tests/fuzz/run removes.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("tessera_fuzz_" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "runtime error: %s\n", what.c_str());
  std::abort();
}

}  // namespace

const comm::Communicator& world() {
  static int argc = 0;
  static char** argv = nullptr;
  static comm::Environment environment(argc, argv);
  static const comm::Communicator alone;
  return alone;
}

std::string write(const std::string& name, Bytes bytes) {
  static const Folder folder;
  const std::string path = folder.path() / name;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  return path;
}

void may_refuse(const std::string& named, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    const std::string what = error.what();
    if (error.exit_code() != ExitCode::bad_input) fail("not told as bad input: " + what);
    if (what.find(named) == what.npos) fail("does not name \"" + named + "\": " + what);
  } catch (const std::exception& error) {
    fail(std::string("not an error of ours: ") + error.what());
  }
}

}  // namespace tessera::fuzz
