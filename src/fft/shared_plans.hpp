#pragma once
/// What the fastest transforms are, measured by one process and told to others of the same machine.

#include <string>

#include "tessera/base/box.hpp"

namespace tessera::fft {

/// What the library has found for transforms of this shape, as text; empty if it measures nothing.
std::string measured_plans(Shape2 shape);

/// Plans of shapes that `measured` knows need no measurement here.
void take_plans(const std::string& measured);

}  // namespace tessera::fft
