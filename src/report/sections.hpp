#pragma once
/// The parts of what the page shows of one result.

#include <cstdint>
#include <optional>

#include <nlohmann/json.hpp>

#include "tessera/io/hdf5.hpp"

#include "deck/deck.hpp"

namespace tessera::report {

using Json = nlohmann::ordered_json;

struct Result {
  io::File file;
  std::optional<deck::Deck> deck;  ///< with every default; none: unknown
  double pixel_m = 0;
  double wavelength_m = 0;
};

/// The illuminated box: amplitude, phase, whole turns if there are any; the same of every slice and
/// object mode if there are several. Thinned to `max_pixels` in all.
Json object_section(const Result& result, const WaveStack& probe, std::int64_t max_pixels);

/// Every mode with its power, thinned to `max_pixels` in all; the beam along z.
Json probe_section(const Result& result, const WaveStack& probe, std::int64_t max_pixels);

/// Null if there is none.
Json background_section(const Result& result);

/// The patterns that the model explains worst, and what it expects, as roots of counts; null if
/// there are none.
Json worst_patterns_section(const Result& result);

/// Texts and numbers that the root has.
Json figures_section(const Result& result);

/// Running figures of every epoch, and the solvers that made them.
Json history_section(const Result& result);

/// The rings of two halves and up to where they agree; null if there are none.
Json halves_section(const Result& result);

/// Positions, before and after refinement, and what was fitted at each; thinned.
Json positions_section(const Result& result);

/// Boxes (y0, x0, y1, x1) of all ranks, object pixels.
Json tiles_section(const Result& result);

/// Seconds and bytes of every rank, by name.
Json ranks_section(const Result& result);

/// Every key with its value, its default and its meaning.
Json deck_section(const Result& result);

}  // namespace tessera::report
