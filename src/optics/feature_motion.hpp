#pragma once
/// How far images of the sample run over the detector when it moves: what a scan says of its beam's
/// curvature, or defocus, before anything is reconstructed.

#include <array>
#include <vector>

#include "tessera/base/image_stack.hpp"

namespace tessera::optics {

/// What moves by d with the sample moves by (yy d.y + yx d.x, yx d.y + xx d.x) on the detector, in
/// object pixels: 1 in a flat wave, more in one that diverges.
struct FeatureMotion {
  double yy = 1;
  double yx = 0;
  double xx = 1;
  double correlation = 0;       ///< of patterns so moved, to -1 ... 1
  double flat_correlation = 0;  ///< of patterns that move as in a flat wave
  double chance = 0;  ///< the best correlation of motions across the sample's, which mean nothing
};

/// exp(i pi r . C r / wavelength) is the phase of a curved wave, C in 1 / metres.
struct Curvature {
  double yy_per_m = 0;
  double yx_per_m = 0;
  double xx_per_m = 0;
};

/// Two patterns whose windows overlap well.
struct PatternPair {
  int first = 0;
  int second = 0;
};

/// Parts of the window by which pairs are apart. Images of neighbours are alike wherever the
/// speckles of a diffuser stand still, as long as the sample has hardly moved: farther ones tell.
inline constexpr std::array<double, 3> apart_in_images{0.2, 0.28, 0.36};
/// Shadows run fast: the nearest neighbour tells the motion roughly, the others tell it finely.
inline constexpr std::array<double, 3> apart_in_shadows{0, 0.06, 0.12};

/// Three for each of some 48 patterns all over the scan, as near to these distances as there are.
std::vector<PatternPair> spread_pairs(const std::vector<Vec2>& positions_px, Shape2 window,
                                      const std::array<double, 3>& apart);

/// From pairs of a scan's patterns to pairs among those that they name.
/// @return these, ascending
std::vector<int> renumber(std::vector<PatternPair>& pairs);

/// Contrasts q = (I / its counts - mean) / sqrt(mean) of the pairs are correlated; the motion is
/// the symmetric matrix M at which
///   sum over pairs (q_a * q_b)(M (p_a - p_b)) / sum over pairs (w * w)(M (p_a - p_b))
/// is greatest, w = sqrt(mean) and * the correlation: where two patterns show less of the same
/// features, they count less. It is the highest peak of sizes from 1/4 to 4, not an end of them.
/// @param patterns (n, h, w), counts
/// @param positions_px of the patterns' windows, in their pixels
FeatureMotion feature_motion(const ImageStack<double>& patterns,
                             const std::vector<Vec2>& positions_px,
                             const std::vector<PatternPair>& pairs);

/// Of shadows. Beams in focus, whose patterns change without moving, have less, or are hardly
/// better than what means nothing.
inline constexpr double least_shadow_correlation = 0.04;

/// The same of a far field, whose beam out of focus throws a shadow of the sample into its cone:
/// what moves by d with the sample moves by m d, yy = xx = m, of either sign. Looked at are all m
/// with which the cone is wider than 3 pixels at the sample, and narrower than the window.
/// `flat_correlation` is the greatest of what would mean nothing: no motion, the other direction,
/// or, with less weight, an end of that range.
/// @param patterns with the beam in their middle
/// @param bin object pixels of a pattern's pixel and of positions_px
FeatureMotion shadow_motion(const ImageStack<double>& patterns,
                            const std::vector<Vec2>& positions_px,
                            const std::vector<PatternPair>& pairs, int bin);

/// For each of several lists of positions of the same patterns, which are transformed once.
std::vector<FeatureMotion> shadow_motions(const ImageStack<double>& patterns,
                                          const std::vector<std::vector<Vec2>>& positions_px,
                                          const std::vector<PatternPair>& pairs, int bin);

/// Of a beam whose shadows move so, from focus to sample: window pixel^2 / (wavelength m), for the
/// ray of spatial frequency q meets the sample at wavelength defocus q.
/// @param window its side, pixels
double defocus_m(const FeatureMotion& motion, int window, double pixel_m, double wavelength_m);

/// A wave of curvature C on the detector shows a sample `distance_m` before it enlarged by
/// M = 1 / (1 - distance C).
Curvature curvature_on_detector(const FeatureMotion& motion, double distance_m);

}  // namespace tessera::optics
