#pragma once
/// Scan positions in metres and the windows of object pixels that they illuminate.

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/base/box.hpp"

namespace tessera::geometry {

/// Where the windows of a scan lie on the object's pixel grid.
struct WindowGrid {
  Shape2 window;               ///< probe and pattern size, pixels
  Shape2 object;               ///< object size, pixels: the hull of all windows and the margin
  double pixel_m = 0;          ///< object pixel
  Vec2 origin_m;               ///< position, in metres, whose window corner is object pixel (0, 0)
  std::vector<Pixel> corner;   ///< whole-pixel corner of every window
  std::vector<Vec2> subpixel;  ///< what is left, in [-0.5, 0.5]: window corner = corner + subpixel
};

/// Lay the windows of `positions_m` (y, x) on a grid of `pixel_m`, the least position at pixel
/// `margin_px`. The object is as much larger on every side, for windows that will move. Positions
/// that are moved here need no memory beside the grid's.
/// @throws InputError without positions, for one that is not finite, and if the object would have
/// 2^24 pixels or more in a direction
WindowGrid lay_windows(std::vector<Vec2> positions_m, Shape2 window, double pixel_m,
                       int margin_px = 0);

/// Round the sub-pixel parts to multiples of 1 / bins pixel, so that few different ones are left.
void round_subpixel(WindowGrid& grid, int bins);

/// A number for each position, the same where round_subpixel makes equal parts.
/// @param bins up to 64
std::vector<std::uint16_t> subpixel_bins(const WindowGrid& grid, int bins);

/// Raster in scan order (y slow): `rows` x `columns`, `step_m` (y, x), turned by `rotation_rad`
/// (positive from +x towards +y).
std::vector<Vec2> raster_scan(int rows, int columns, Vec2 step_m, double rotation_rad = 0);

/// Fermat spiral, r = c sqrt(k), turning by the golden angle (Huang et al. 2014, Opt. Express 22,
/// 12634), with about one position per step_m^2.
std::vector<Vec2> fermat_scan(int n, double step_m);

/// Concentric rings `step_m` apart, about `step_m` between the positions of a ring
/// (Dierolf et al. 2010, New J. Phys. 12, 035017), the first `n` from the centre outwards.
std::vector<Vec2> concentric_scan(int n, double step_m);

/// Add to each position a uniform displacement in [-amplitude_m, amplitude_m], drawn from its own
/// index.
void jitter(std::span<Vec2> positions_m, double amplitude_m, std::uint64_t seed);

}  // namespace tessera::geometry
