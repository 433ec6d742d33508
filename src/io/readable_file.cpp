#include "readable_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <unistd.h>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::io {

void check_readable(const std::string& path) {
  if (!std::filesystem::exists(path)) throw InputError(text('"', path, "\" does not exist"));
  if (std::filesystem::is_directory(path))
    throw InputError(text('"', path, "\" is a folder, not a file"));
  if (!std::filesystem::is_regular_file(path))  // reading it could wait for ever
    throw InputError(text('"', path, "\" is a pipe, socket or device, not a file"));
  if (access(path.c_str(), R_OK) != 0)
    throw InputError(text('"', path, "\" cannot be read: ", std::strerror(errno)));
}

}  // namespace tessera::io
