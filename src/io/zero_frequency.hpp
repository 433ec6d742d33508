#pragma once
/// The one place that moves zero frequency from the centre to the corner.

#include <algorithm>

#include "tessera/base/box.hpp"

namespace tessera::io {

/// Where pixel `i` of a row of `n` with zero frequency at [0] was when zero frequency was centred.
inline int centred_index(int i, int n) {
  return (i + n / 2) % n;
}

/// out(y, x) = in(centred_index(y, h), centred_index(x, w)); `in` and `out` do not overlap.
template <class T>
void corner_from_centre(const T* in, T* out, Shape2 shape) {
  const int middle = shape.w / 2;
  for (int y = 0; y < shape.h; ++y) {
    const T* row = in + static_cast<std::int64_t>(centred_index(y, shape.h)) * shape.w;
    out = std::copy(row + middle, row + shape.w, out);
    out = std::copy(row, row + middle, out);
  }
}

}  // namespace tessera::io
