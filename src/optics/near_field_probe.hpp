#pragma once
/// The start probe of the near field from an image without a sample.

#include <cstdint>

#include "tessera/base/image_stack.hpp"
#include "tessera/geometry/pixel_size.hpp"

#include "optics/feature_motion.hpp"

namespace tessera::optics {

/// sqrt(intensity), taken to have no phase on the detector but that of a curved wave about the
/// image's centre of mass, back through the propagator to the sample. Flat, in a cone beam, is its
/// wave without the curvature, which the scaling to a parallel beam has taken out. Pixels not to be
/// trusted take the mean of the trusted ones nearest to them: as dark spots they would be part of
/// the beam.
/// @param intensity (1, h, w), as the detector sees it
/// @param valid_pixels (1, h, w), 1 = trust
/// @param curvature on the detector
/// @param paraxial Fresnel's propagator, else the angular spectrum
/// @return (1, h, w)
WaveStack near_field_probe(const ImageStack<double>& intensity,
                           const ImageStack<std::uint8_t>& valid_pixels,
                           const geometry::Optics& optics, const Curvature& curvature,
                           bool paraxial);

}  // namespace tessera::optics
