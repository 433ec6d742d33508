#pragma once
/// Phases without their jumps of whole turns.

#include <vector>

#include "optics/illuminated_region.hpp"

namespace tessera::report {

/// Whole turns to be added to each pixel's phase: the smooth phase whose differences are nearest to
/// the wrapped ones in the sense of least squares (Ghiglia & Romero 1994, J. Opt. Soc. Am. A 11,
/// 107, unweighted; differences count where both pixels are lit), rounded to the given phase. A
/// constant is chosen such that the median is 0. Beside residues it may err by whole turns.
/// @param phase_rad (1, h, w), -pi to pi
std::vector<int> turns_of(const ImageStack<double>& phase_rad, const optics::PixelSet& lit);

}  // namespace tessera::report
