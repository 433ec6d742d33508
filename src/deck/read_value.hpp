#pragma once
/// One TOML value into one field.

#include <toml++/toml.h>

#include "deck/keys.hpp"

namespace tessera::deck {

/// Set the field of `key`.
/// @throws InputError naming the key, the value and what is allowed: wrong type, out of range, not
/// finite
void read_value(const toml::node& node, const Key& key);

}  // namespace tessera::deck
