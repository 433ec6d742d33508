#pragma once
/// Keys and their values in words, for messages, the resolved deck and the reference.

#include <optional>
#include <string>

#include "deck/keys.hpp"

namespace tessera::deck {

using settings::number_text;

/// number_text as a TOML float: 3.0, where 3 would be an integer.
std::string float_text(double value);

/// Quoted and escaped as in TOML.
std::string quoted(const std::string& value);

/// What the field holds now, as TOML; empty if it is unset and has no word for that.
std::optional<std::string> value_text(const Key& key);

/// "whole number", "list of 2 numbers"
std::string type_name(const Key& key);

/// "1 to 100", `"centre", "corner"`; empty if every value of the type is allowed.
std::string allowed_text(const Key& key);

}  // namespace tessera::deck
