#pragma once
/// Objects to start from, out of two numbers of each pattern: its counts and their centre of mass.
/// They are as coarse as the scan, and so small that every rank can hold the whole.

#include <cstdint>
#include <span>

#include "tessera/base/image_stack.hpp"

namespace tessera::optics {

/// A smooth quantity over the object, on nodes `step_px` apart, the first at pixel (0, 0).
struct CoarseMap {
  double step_px = 1;
  ImageStack<double> nodes;  ///< (1, rows, columns)
  /// Between the nodes, at an object pixel; bilinear.
  double at(Pixel pixel) const;
};

/// The node distance, pixels, with about one node for each of the points, at least 1.
double coarse_step_px(std::span<const Vec2> points_px);

/// At each node the mean of the points' values, weighted by a Gaussian of one node distance; far
/// from all points `elsewhere`.
CoarseMap spread(Shape2 object, double step_px, std::span<const Vec2> points_px,
                 std::span<const double> values, double elsewhere);

/// The phase, radians, whose gradient is nearest to `gradients` (radians per pixel, (y, x)) at
/// `points_px`, in the sense of least squares: their mean as a ramp, the rest divided by i k in
/// Fourier space (Kottler et al. 2007, Opt. Express 15, 1175) on an object that is mirrored at its
/// edges (Bon, Monneret & Wattellier 2012, Appl. Opt. 51, 5698).
CoarseMap phase_of_gradients(Shape2 object, double step_px, std::span<const Vec2> points_px,
                             std::span<const Vec2> gradients);

/// Centre of mass of the probe's intensity, all modes, window pixels.
Vec2 illumination_centre_px(const WaveStack& probe);

/// Centre of mass of the pattern that the probe makes without a sample, valid pixels, detector
/// pixels from the zero frequency.
/// @param valid_pixels (1, h, w), zero frequency at [0, 0]
Vec2 pattern_centre_px(const WaveStack& probe, const ImageStack<std::uint8_t>& valid_pixels);

}  // namespace tessera::optics
