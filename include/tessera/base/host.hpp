#pragma once
#include <string>

namespace tessera {

/// Name of the machine that this process runs on.
std::string host_name();

}  // namespace tessera
