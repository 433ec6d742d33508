#pragma once
#include <string>

namespace tessera::io {

/// @throws InputError saying why the file at `path` cannot even be tried
void check_readable(const std::string& path);

}  // namespace tessera::io
