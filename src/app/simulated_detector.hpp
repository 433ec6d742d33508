#pragma once
/// What the simulated detector sees, position by position.

#include <cstdint>

#include "simulated_scan.hpp"

namespace tessera::app {

/// Scan positions [begin, end).
struct Share {
  int begin = 0;
  int end = 0;
  int size() const { return end - begin; }
};

/// Noise-free intensities, (share, h, w), zero frequency at [0, 0]: sum over the modes of
/// |FFT(probe shifted by the window's sub-pixel part * object)|^2.
ImageStack<double> intensities(const SimulatedScan& scan, Share share);

/// Replace every value by a Poisson number of that mean, from the stream of (seed, position).
void count(ImageStack<double>& patterns, Share share, std::uint64_t seed);

/// What bad pixels show instead: 0, or the highest value of a 16-bit counter.
void spoil_bad_pixels(ImageStack<double>& patterns, const SimulatedScan& scan);

}  // namespace tessera::app
