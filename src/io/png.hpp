#pragma once
/// Pictures of amplitudes and phases.

#include <complex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "tessera/base/image_stack.hpp"

#include "io/canvas.hpp"

namespace tessera::io {

/// What stands around a picture, whose own pixels lie at the upper left: a colour bar on its right
/// and a scale bar below. Letters are those of Canvas::write.
struct Legend {
  std::string least;   ///< words at the lower end of the colour bar
  std::string most;    ///< at the upper end
  double pixel_m = 0;  ///< side of a pixel; 0: no scale bar
};

/// Grey picture of `values`, black to white over `range` (default: the 0.5 % and 99.5 % quantiles).
/// @throws SystemError naming the path
void write_grey_png(const std::string& path, Shape2 shape, std::span<const double> values,
                    std::optional<std::pair<double, double>> range = {},
                    const std::optional<Legend>& legend = {});

/// Colour picture of a wave: hue = phase, -pi to pi along the colour bar, brightness = amplitude.
void write_wave_png(const std::string& path, Shape2 shape,
                    std::span<const std::complex<double>> values,
                    const std::optional<Legend>& legend = {});

/// What has been drawn.
void write_canvas_png(const std::string& path, const Canvas& canvas);

}  // namespace tessera::io
