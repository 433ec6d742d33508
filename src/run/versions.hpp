#pragma once
#include <string>

namespace tessera::run {

/// Tessera, its compiler and the libraries that it runs with, a line each.
std::string versions();

}  // namespace tessera::run
