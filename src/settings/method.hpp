#pragma once
/// What a deck knows of a method besides its keys.

#include <string>
#include <vector>

namespace tessera::settings {

/// What a deck can ask of a method; the columns of the table of what goes with what.
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

/// @tparam Own the settings of its family
template <class Own>
struct Method {
  std::string name;              ///< as in solver.method
  std::string meaning;           ///< what it is, with its source
  std::vector<Option> excludes;  ///< what it does not go with
  Own start = {};                ///< its own defaults
  double batch_coverage = 2;     ///< the least: docs/methods/batches.md
};

}  // namespace tessera::settings
