#pragma once
/// Sub-pixel shifts, gradients and peaks by discrete Fourier transforms.

#include <array>

#include "tessera/base/image_stack.hpp"

namespace tessera::optics {

/// Every image moved by `shift_px`: out(r) = in(r - shift_px), periodic, unitary.
WaveStack shifted(WaveStack waves, Vec2 shift_px);

/// d/dy and d/dx of every image, per pixel, periodic.
std::array<WaveStack, 2> gradient(const WaveStack& waves);

/// Where the samples of an image lie: at 0 ... n - 1, or as the bins of a transform, upper half
/// negative.
enum class Samples { image, spectrum };

/// The (y, x) in cycles per sample at which |sum_r image(r) exp(-2 pi i r . f)| is greatest: the
/// peak of the transform, refined to 1/100 bin by matrix-multiplication transforms of its
/// surroundings (Guizar-Sicairos, Thurman & Fienup 2008, Opt. Lett. 33, 156).
Vec2 transform_peak(const WaveStack& image, Samples samples);

}  // namespace tessera::optics
