#include "report/chromium.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tessera::testing {
namespace {

std::string contents_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

std::optional<Shown> shown_in_chromium(const std::string& path, const std::string& scratch_folder) {
  if (std::system("command -v chromium > /dev/null 2>&1") != 0) return {};
  const std::string at = scratch_folder + "/chromium";
  std::filesystem::create_directories(at);
  // A page that waits for nothing from outside ends its time at once.
  const std::string command =
      "timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-background-networking "
      "--virtual-time-budget=20000 --enable-logging=stderr --user-data-dir=" +
      at + " --dump-dom file://" + path + " > " + at + "/page 2> " + at + "/console";
  if (std::system(command.c_str()) != 0) return Shown{"", contents_of(at + "/console")};
  return Shown{contents_of(at + "/page"), contents_of(at + "/console")};
}

}  // namespace tessera::testing
