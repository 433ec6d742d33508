#pragma once
/// Which method goes with which model: one table, from which combinations are refused and which
/// `tessera methods` prints.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/deck/deck.hpp"

namespace tessera::deck {

/// What a deck can ask of a method; the columns of the table.
enum class Option {
  probe_modes,
  object_modes,
  opr,
  slices,
  positions,
  constraints,
  background,
  intensity,
  fly_scan,
  near_field,
  point_spread,
  noise,    ///< models other than amplitude
  batches,  ///< smaller than the whole scan
};

/// As in solver.method.
std::vector<std::string> method_names();

/// @param method as in solver.method; allows everything if it is not in the table
bool allows(std::string_view method, Option option);

/// The first option that the deck uses and the method of solvers[stage] excludes: the setting, and
/// the methods that go with it. Empty if there is none.
std::string excluded_option(const Deck& deck, std::size_t stage);

/// The table for people, with what each column stands for.
std::string methods_table();

}  // namespace tessera::deck
