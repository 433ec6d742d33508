#pragma once
/// Which method goes with which model: the rows are the methods' own (settings/), the columns are
/// said here. From the table combinations are refused; `tessera methods` prints it.

#include <cstddef>
#include <string>

#include "deck/deck.hpp"

namespace tessera::deck {

using settings::allows;
using settings::method_names;
using settings::Option;

/// The first option that the deck uses and the method of solvers[stage] excludes: the setting, and
/// the methods that go with it. Empty if there is none.
std::string excluded_option(const Deck& deck, std::size_t stage);

/// The table for people, with what each column stands for.
std::string methods_table();

/// The same for docs/methods.md, a row for methods of one family that are alike.
std::string methods_page();

}  // namespace tessera::deck
