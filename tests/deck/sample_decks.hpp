#pragma once
/// The least decks that are complete, for tests to add to.

#include <string>
#include <vector>

#include "tessera/base/error.hpp"

#include "deck/parse.hpp"

namespace tessera::deck {

inline const std::string xray_deck =
    "data.file = \"scan.h5\"\n"
    "experiment.energy_eV = 8800\n"
    "experiment.distance_m = 1.96\n"
    "experiment.detector_pixel_m = 75e-6\n";

inline const std::string electron_deck =
    "data.file = \"scan.h5\"\n"
    "experiment.voltage_V = 80e3\n"
    "experiment.detector_pixel_rad = 1e-3\n";

inline const std::string raster_deck =
    xray_deck + "data.positions = \"\"\ndata.raster_step_m = [1e-6, 1e-6]\n";

inline const std::string raw_deck = xray_deck +
                                    "data.format = \"raw\"\ndata.raw_type = \"u8\"\n"
                                    "data.raw_shape = [64, 64]\n";

inline const std::string near_deck = xray_deck + "experiment.propagation = \"fresnel\"\n";

inline const std::string thick_deck =
    xray_deck + "object.n_slices = 2\nobject.slice_thickness_m = 1e-6\n";

inline const std::string fly_deck =
    xray_deck + "experiment.fly_sub_positions = 2\nexperiment.fly_travel_m = [1e-6, 0]\n";

inline Deck parsed(const std::string& toml_text, const std::vector<std::string>& overrides = {}) {
  return parse(toml_text, "deck.toml", overrides);
}

/// What `action` complains of; empty if it does not.
template <class Action>
std::string complaint(const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

inline std::string parse_complaint(const std::string& toml_text,
                                   const std::vector<std::string>& overrides = {}) {
  return complaint([&] { parsed(toml_text, overrides); });
}

}  // namespace tessera::deck
