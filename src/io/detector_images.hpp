#pragma once
/// Masks and other images of the whole detector, from how they were recorded to a pattern's frame.

#include "io/scan_reader.hpp"

namespace tessera::io {

/// Sets valid_pixels and saturation of `info`, whose other fields are known.
/// @param recorded (1, h, w), 1 = trust; empty: every pixel
/// @throws InputError
void set_masks(const ImageStack<double>& recorded, const ScanSource& source, ScanInfo& info);

/// The mean of images of the detector, in the patterns' frame, 0 where a pixel is not valid.
/// @throws InputError: a valid pixel negative or not finite
ImageStack<double> framed_mean(const ImageStack<double>& recorded, const ScanSource& source,
                               const ScanInfo& info);

}  // namespace tessera::io
