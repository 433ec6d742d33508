#pragma once
/// What the simulated detector sees, position by position.

#include <cstdint>

#include "simulated_scan.hpp"

namespace tessera::simulation {

/// Scan positions [begin, end).
struct Share {
  int begin = 0;
  int end = 0;
  int size() const { return end - begin; }
};

/// Noise-free intensities, (share, h, w): the mean over the exposures of a fly scan of the sum over
/// the modes of |detector wave|^2, seen through the point spread, times the beam's current. Far
/// field: zero frequency at [0, 0]. Near field: as the detector sees it; the probe stays where it
/// is on the detector and the sample moves.
ImageStack<double> intensities(const SimulatedScan& scan, Share share);

/// Add the scan's background to every pattern.
void add_background(ImageStack<double>& patterns, const SimulatedScan& scan);

/// Replace every value by a Poisson number of that mean, from the stream of (seed, position).
void count(ImageStack<double>& patterns, Share share, std::uint64_t seed);

/// What bad pixels show instead: 0, or the highest value of a 16-bit counter.
void spoil_bad_pixels(ImageStack<double>& patterns, const SimulatedScan& scan);

}  // namespace tessera::simulation
