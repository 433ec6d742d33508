#pragma once
/// A row of the key table. Every struct of this module lists its own, beside the fields that they
/// set: nothing else says which keys a deck may have.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tessera::settings {

/// The field that a key sets.
using Field = std::variant<bool*, int*, std::uint64_t*, double*, std::string*, std::optional<int>*,
                           std::optional<double>*, std::optional<std::string>*, std::vector<int>*,
                           std::vector<double>*>;

struct Key {
  std::string name;  ///< "batch_size"; in a deck's table with its section, "solver.batch_size"
  Field field;
  std::string meaning;                    ///< one or two sentences: what, in which unit, when
  std::optional<double> min = {};         ///< smallest allowed number (of each element)
  std::optional<double> max = {};         ///< greatest allowed number
  std::vector<std::string> choices = {};  ///< allowed words; empty: any
  int length = 0;                         ///< elements of a list that is not empty
  std::optional<std::string> none = {};   ///< word that leaves the field unset, such as "auto"
  std::string hint = {};                  ///< the likely mistake, added when a value is refused
  std::vector<std::string> methods = {};  ///< of its family that have it; empty: all
  /// Relative to the deck or, given on the command line, to the working folder.
  bool is_path = false;
};

/// From when on something is done.
/// @param what ends the words "First epoch, from 0, "
Key first_epoch(const std::string& name, Field field, const std::string& what);

/// The rows of several structs, one after another.
std::vector<Key> joined(std::vector<std::vector<Key>> parts);

/// @throws InputError saying `problem` if it does not hold
void require(bool holds, const std::string& problem);

/// The shortest digits that read back to the same number: 0.05, 1e-6, 3.
std::string number_text(double value);

}  // namespace tessera::settings
