#pragma once
/// Atom columns of a reconstruction against those of a simulated crystal.

#include "analysis/compare.hpp"

namespace tessera::analysis {

/// @param file a simulated scan; nothing if its sample is no crystal
std::optional<KnownColumns> read_columns(const io::File& file);

/// A column is the Gaussian, on an even floor, that fits the phase of all slices together best, by
/// least squares of floor, height, width and place. What a dopant adds is the height of its column
/// in every slice less that of undoped columns of its kind; along z a Gaussian is fitted to it, of
/// one width for all dopants. Collective.
/// @param pair freed of the ambiguity of the whole
/// @param scanned_px the box about the beam's positions, on the reference
ColumnComparison compare_columns(const ObjectPair& pair, const KnownColumns& known,
                                 Vec2 scanned_begin_px, Vec2 scanned_end_px);

}  // namespace tessera::analysis
