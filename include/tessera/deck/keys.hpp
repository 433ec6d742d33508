#pragma once
/// The deck's key table: the one place that says which keys exist. Parsing, checking, the resolved
/// deck and the reference in docs/deck.md are all made from it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tessera/deck/deck.hpp"

namespace tessera::deck {

/// The field that a key sets.
using Field =
    std::variant<bool*, int*, std::uint64_t*, double*, std::string*, std::optional<double>*,
                 std::optional<std::string>*, std::vector<int>*, std::vector<double>*>;

struct Key {
  std::string name;  ///< "solver.batch_size"
  Field field;
  std::string meaning;                    ///< one or two sentences: what, in which unit, when
  std::optional<double> least = {};       ///< smallest allowed number (of each element)
  std::optional<double> greatest = {};    ///< greatest allowed number
  std::vector<std::string> choices = {};  ///< allowed words; empty: any
  int length = 0;                         ///< elements of a list that is not empty
  std::optional<std::string> none = {};   ///< word that leaves the field unset, such as "auto"
  std::string hint = {};                  ///< the likely mistake, added when a value is refused
  bool is_path =
      false;  ///< relative to the deck or, given on the command line, to the working folder
};

/// Every key of `deck`, in the order of the reference. With several solvers each has its keys, in
/// sections named by `solver_section`. What the keys point to is `deck` as it is: not to be used
/// after the number of solvers has changed.
std::vector<Key> keys(Deck& deck);

/// "solver" where there is one, else "solver[0]", "solver[1]", ...
std::string solver_section(const Deck& deck, std::size_t stage);

/// docs/deck.md, made from the table and the defaults.
std::string reference();

/// One line for every key: default, type and allowed values. For --help.
std::string key_list();

}  // namespace tessera::deck
