#pragma once
/// Images that `tessera look` draws, and pixels that stand out.

#include <span>
#include <vector>

#include "tessera/base/image_stack.hpp"

#include "io/scan_reader.hpp"

namespace tessera::analysis {

/// A pattern with zero frequency at [0, 0] as the detector sees it, log(1 + counts).
std::vector<double> centred_logarithm(const std::vector<double>& pattern, Shape2 shape);

/// (1, h, w): a spot of the value at every position; 0 between.
ImageStack<double> spots_at(const std::vector<Vec2>& positions_m,
                            const std::vector<double>& values);

std::vector<Vec2> centres_of(std::span<const io::PatternMoments> moments);

/// Centres of mass along the raster's own axes, as find_scan_orientation turns them, less their
/// mean.
std::vector<Vec2> scan_field(std::span<const io::PatternMoments> moments, Shape2 raster);

/// Central differences of a field (y, x); 0 on the rim.
std::vector<double> divergence(const std::vector<Vec2>& field, Shape2 raster);

/// Of which the field is the gradient, as well as it can be; mean 0, periodic. (Of an electron
/// microscope's scan the integrated centre of mass: Lazic, Bosch & Lazar 2016, Ultramicroscopy 160,
/// 265.)
std::vector<double> potential(const std::vector<Vec2>& field, Shape2 raster);

/// Pixels with more than ten times the counts of all their neighbours; none, though these have
/// many. Detector pixels from the middle [h/2, w/2] of a pattern with zero frequency at [0, 0].
std::vector<Pixel> hot_pixels(const std::vector<double>& sum, Shape2 shape);
std::vector<Pixel> dead_pixels(const std::vector<double>& sum, Shape2 shape);

}  // namespace tessera::analysis
