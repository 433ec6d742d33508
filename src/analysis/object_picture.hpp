#pragma once
/// The object of a result as it is shown: its illuminated part, free of what ptychography leaves
/// open.

#include <optional>
#include <span>
#include <utility>

#include "tessera/io/hdf5.hpp"

#include "optics/illuminated_region.hpp"

namespace tessera::analysis {

struct ObjectPicture {
  WaveStack waves;       ///< (1, h, w): ramp removed, mean phase 0
  optics::PixelSet lit;  ///< the same pixels; those that are not finite are not
  Pixel begin;           ///< pixel of the object that is [0, 0] here
  int stride = 1;        ///< of object pixels
};

/// Pixels of the object in a result.
Shape2 object_shape(const io::File& file);

/// The box around what the probe has lit, every `stride`-th pixel. On the calling rank alone.
/// @param image of the object; none: the slices of the first mode, multiplied
/// @throws InputError if the probe is dark or no lit pixel is finite
ObjectPicture object_picture(const io::File& file, const WaveStack& probe, int stride,
                             std::optional<int> image = {});

/// What a picture's black and white stand for: 0.5 % and 99.5 % of the lit pixels' values.
std::pair<double, double> shown_range(std::span<const double> values, const optics::PixelSet& lit);

}  // namespace tessera::analysis
