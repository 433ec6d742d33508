#pragma once
/// Messages for names that no key has, with the name that was probably meant.

#include <string>
#include <vector>

#include "deck/keys.hpp"

namespace tessera::deck {

std::string unknown_key(const std::string& name, const std::vector<Key>& keys);
std::string unknown_section(const std::string& name, const std::vector<Key>& keys);

}  // namespace tessera::deck
