#pragma once
/// Pictures of amplitudes, phases and curves.

#include <complex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "tessera/base/image_stack.hpp"

namespace tessera::io {

/// Grey picture of `values`, black to white over `range` (default: the 0.5 % and 99.5 % quantiles).
/// @throws SystemError naming the path
void write_grey_png(const std::string& path, Shape2 shape, std::span<const double> values,
                    std::optional<std::pair<double, double>> range = {});

/// Colour picture of a wave: hue = phase, brightness = amplitude.
void write_wave_png(const std::string& path, Shape2 shape,
                    std::span<const std::complex<double>> values);

/// A curve on a logarithmic y axis with ticks and labels of the decades.
void write_curve_png(const std::string& path, std::span<const double> values);

}  // namespace tessera::io
