#pragma once
/// Fourier ring correlation: up to which spatial frequency two objects agree.

#include <vector>

#include "object_pair.hpp"

namespace tessera::analysis {

/// One entry per ring, from the mean (ring 0) to the Nyquist frequency.
struct RingCorrelation {
  std::vector<double> nyquist_fraction;  ///< spatial frequency, 1 = half a cycle per pixel
  std::vector<double> correlation;       ///< -1 ... 1
  std::vector<double> one_bit;           ///< threshold: 1 bit of information per sample
  std::vector<double> half_bit;          ///< threshold: 1/2 bit
};

/// Correlation (real part) of the spectra of two aligned objects over rings, and the thresholds of
/// van Heel & Schatz 2005, J. Struct. Biol. 151, 250, for 1 and 1/2 bit. Both are cut to
/// the box of their lit pixels, freed of their mean and multiplied by a soft window, which also
/// lowers the number of independent samples of a ring. Of an object in blocks, sums over all of
/// them make a ring (Welch 1967, IEEE Trans. Audio Electroacoust. 15, 70). Collective.
RingCorrelation ring_correlation(const ObjectPair& pair);

/// Fraction of Nyquist where the correlation, as the mean of a ring and its neighbours, first falls
/// below the threshold, linear between rings; 1 if it never does.
double resolved_fraction(const RingCorrelation& rings, const std::vector<double>& threshold);

}  // namespace tessera::analysis
