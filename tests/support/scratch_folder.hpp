#pragma once
/// A folder of its own for a test's files, removed afterwards.

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "support/keep_files.hpp"

namespace tessera::testing {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tessera_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    folder_ = name;
  }
  ~ScratchFolder() { remove_or_keep(folder_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace tessera::testing
