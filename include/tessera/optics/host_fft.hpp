#pragma once
/// Double-precision transforms on the host, for set-up, simulation and comparison. Any thread may
/// call them.

#include "tessera/base/image_stack.hpp"

namespace tessera::optics {

/// Unitary, exp(-i ...), in place, every image of the stack.
void forward_2d(WaveStack& waves);
/// Unitary, exp(+i ...), in place, every image of the stack.
void inverse_2d(WaveStack& waves);

/// Move [0, 0] to the centre [h/2, w/2].
template <class T>
ImageStack<T> centred(const ImageStack<T>& corner) {
  ImageStack<T> out(corner.n(), corner.shape());
  for (int i = 0; i < corner.n(); ++i)
    for (int y = 0; y < corner.h(); ++y)
      for (int x = 0; x < corner.w(); ++x)
        out(i, (y + corner.h() / 2) % corner.h(), (x + corner.w() / 2) % corner.w()) =
            corner(i, y, x);
  return out;
}

/// The inverse of `centred`: move [h/2, w/2] to [0, 0].
template <class T>
ImageStack<T> cornered(const ImageStack<T>& centre) {
  ImageStack<T> out(centre.n(), centre.shape());
  for (int i = 0; i < centre.n(); ++i)
    for (int y = 0; y < centre.h(); ++y)
      for (int x = 0; x < centre.w(); ++x)
        out(i, y, x) =
            centre(i, (y + centre.h() / 2) % centre.h(), (x + centre.w() / 2) % centre.w());
  return out;
}

/// Spatial frequency of bin k of n, cycles per pixel, in [-1/2, 1/2).
inline double frequency(int k, int n) {
  return static_cast<double>(k < (n + 1) / 2 ? k : k - n) / n;
}

}  // namespace tessera::optics
