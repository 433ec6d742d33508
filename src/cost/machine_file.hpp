#pragma once
/// A Machine as a small TOML file.

#include <string>

#include "cost/machine.hpp"

namespace tessera::cost {

/// @throws InputError naming path, key and what is allowed
Machine read_machine(const std::string& path);

/// Its text. @param head comment lines that say what it is, each with its "# "
std::string machine_text(const Machine& machine, const std::string& head);

}  // namespace tessera::cost
