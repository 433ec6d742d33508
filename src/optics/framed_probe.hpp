#pragma once
/// A probe of the recorded detector on a cut, binned or padded one.

#include "tessera/base/image_stack.hpp"

#include "geometry/detector_frame.hpp"

namespace tessera::optics {

/// What the detector's frame does to a probe: cutting and padding the detector cut and pad the
/// probe's spectrum (coarser and finer pixels), binning it cuts the window (every bin-th frequency
/// of the spectrum, displaced as geometry::binned_zero_frequency_px says). Power is lost only with
/// what is cut away.
/// @param probe (n_modes, frame.recorded), centred at [h/2, w/2]
/// @return (n_modes, frame.pattern), likewise
WaveStack framed_probe(const WaveStack& probe, const geometry::DetectorFrame& frame);

}  // namespace tessera::optics
