#pragma once
#include <string>

namespace tessera::app {

/// Tessera, its compiler and the libraries that it runs with, a line each.
std::string versions();

}  // namespace tessera::app
