#pragma once
/// From TOML text and key=value words to a checked deck, and back.

#include <span>
#include <string>

#include "deck/deck.hpp"
#include "deck/words.hpp"

namespace tessera::deck {

/// Parse and check a deck.
/// @param toml_text contents of the deck
/// @param deck_path named in messages; its folder is where relative paths in the deck start
/// @param overrides "solver.epochs=200", applied after the deck; values are TOML, a bare word is a
///        string, a relative path starts at the working folder
/// @param words what names in braces in the values stand for; null: braces are text
/// @throws InputError: syntax (with line and column), unknown key (with the nearest name), wrong
///         type, value out of range, or what `check` refuses
Deck parse(const std::string& toml_text, const std::string& deck_path,
           std::span<const std::string> overrides, const Words* words = nullptr);

/// The deck with every default filled in, as TOML, such that `parse` reads it back to the same deck
/// when `deck_path` is in `folder`: relative paths start there.
/// @param folder empty: the working folder
std::string resolved_text(Deck deck, const std::string& folder = "");

}  // namespace tessera::deck
