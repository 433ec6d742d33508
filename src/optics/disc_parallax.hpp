#pragma once
/// A defocused beam's parallax: parts of the bright disc see the sample under different angles, so
/// the images that they make of it are shifted against each other.

#include <numbers>
#include <vector>

#include "optics/disc_images.hpp"

namespace tessera::optics {

/// For pixels (y, x) between two places in the disc their images are shifted by a multiple of
/// (y, x), or of (x, y) where rows and columns of the detector are exchanged, turned.
struct DiscParallax {
  double shift_per_px = 0;  ///< negative: of an underfocus; times the step of the images' nodes
                            ///< over the detector's pixel, an angle: the defocus
  double rotation_rad = 0;  ///< of the scan on the detector, from +x towards +y
  bool is_exchanged = false;
  double correlation = 0;  ///< of images so shifted, all pairs together
  double chance = 0;       ///< the greatest that would mean nothing: shifted across, or not at all

  bool is_clear() const;
};

/// Within three depths of field, wavelength / semi-angle^2. In focus a parallax of about one is
/// seen, and near it up to half too much.
bool is_near_focus(double defocus_m, double semi_angle_rad, double wavelength_m);

/// Whatever the turn; half a turn more is the same with the other sign of the shift, so it is a
/// quarter at most.
DiscParallax turned_parallax(const DiscImages& disc);

/// Of a scan whose positions are known, raster or not, in object pixels for each of the detector's.
/// Along the positions, as they are; and whatever the turn.
struct ScanParallax {
  DiscParallax straight;
  DiscParallax turned;
  double disc_radius_px = 0;
};
/// @param patterns (position, h, w), counts, of pixels that are `bin` of the detector's
/// @param positions_px in object pixels
ScanParallax scan_parallax(const ImageStack<double>& patterns,
                           const std::vector<Vec2>& positions_px, int bin);

}  // namespace tessera::optics
