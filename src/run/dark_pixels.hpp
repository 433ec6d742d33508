#pragma once
/// The detector's dark pixels: is what they hold the sample's, or a background?

#include "tessera/base/image_stack.hpp"

#include "io/scan_reader.hpp"

namespace tessera::run {

struct DarkPixels {
  /// Of a trusted pixel in the darkest of 8 x 8 parts of the detector; infinite where each is for
  /// the most part masked.
  double counts = 0;
  /// mean I^2 / (mean I)^2 over positions, of the darkest three quarters: 1 where the light is the
  /// same at every position, as a background's is; 2 where it is the speckle of a sample. Of pixels
  /// with more than a few counts 1 whatever they hold: their roots have no bias to speak of.
  double dispersion = 0;
};

/// Of whole counts.
/// @param mean (1, h, w): of `totals`
DarkPixels find_dark_pixels(const io::PatternTotals& totals, const io::ScanInfo& info,
                            const ImageStack<double>& mean, int n_fitted);

/// Error of a model that expects what was to be expected: what Poisson's noise alone leaves,
/// sum Var(sqrt N) / sum N, N of the mean pattern; a little more than it is where patterns differ.
double poisson_error(const ImageStack<double>& mean);

}  // namespace tessera::run
