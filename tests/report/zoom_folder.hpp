#pragma once
/// A scratch folder of all ranks.

#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "support/scratch_folder.hpp"
#include "support/world.hpp"

namespace tessera::testing {

/// Collective.
class ZoomFolder {
 public:
  ZoomFolder() {
    if (world().is_root()) path_ = own_.emplace().path("");
    world().broadcast(path_);
  }
  ~ZoomFolder() { world().barrier(); }
  ZoomFolder(const ZoomFolder&) = delete;
  ZoomFolder& operator=(const ZoomFolder&) = delete;
  std::string path(const std::string& name) const { return path_ + name; }

 private:
  std::optional<ScratchFolder> own_;
  std::string path_;
};

inline std::string contents_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace tessera::testing
