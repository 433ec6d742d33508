#pragma once
/// The object of a result as it is shown: its illuminated part, free of what ptychography leaves
/// open.

#include <complex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "tessera/io/hdf5.hpp"

#include "object_source.hpp"
#include "optics/illuminated_region.hpp"

namespace tessera::analysis {

/// Pixels of the object in a result.
Shape2 object_shape(const io::File& file);

/// Its slices, those of the first object mode before those of the next.
int n_object_images(const io::File& file);

/// "slice 2", "object mode 1, slice 2".
/// @param n_slices, n_modes of the object; 0: not known
std::string object_image_name(int image, int n_slices, int n_modes);

/// What stands for black and for white.
struct GreyRange {
  double least = 0;
  double most = 0;
  std::pair<double, double> as_pair() const { return {least, most}; }
};

/// How an object is shown, in pictures of any size and in every part of them.
struct ObjectLook {
  int first_image = 0;
  int n_images = 1;      ///< multiplied with one another
  Box box;               ///< around what the probe has lit, object pixels
  Vec2 ramp_per_px;      ///< of the phase: turns a pixel, taken out
  double phase_rad = 0;  ///< the mean that is left at box.begin, taken out
  GreyRange amplitude;
  GreyRange phase;  ///< rad
};

/// From every `stride`-th pixel, so that a sample of no side has more than `longest_sample_px`; on
/// the calling rank alone, in memory that does not grow with the object.
/// @param image of the object; none: the slices of the first mode, multiplied
/// @throws InputError if the probe is dark or no lit pixel is finite
ObjectLook object_look(const io::File& file, const WaveStack& probe, std::optional<int> image = {});
inline constexpr int longest_sample_px = 2048;

/// Pixels of the object as they are stored, and as they are shown.
class ShownObject {
 public:
  /// `file` must outlive it.
  ShownObject(const io::File& file, const ObjectLook& look);
  /// Every `stride`-th pixel of every `stride`-th row: of `box` in pixels of that distance. Those
  /// that are not finite are 0. Blocks are not averaged, for a phase ramp would darken them. On the
  /// calling rank alone.
  WaveStack raw(const Box& box, int stride = 1) const;
  /// The same, ramp removed, mean phase 0.
  WaveStack shown(const Box& box, int stride = 1) const;

 private:
  ObjectSource source_;
  ObjectLook look_;
};

struct ObjectPicture {
  WaveStack waves;       ///< (1, h, w): as shown
  optics::PixelSet lit;  ///< the same pixels; those that are not finite are not
  Pixel begin;           ///< pixel of the object that is [0, 0] here
  int stride = 1;        ///< of object pixels
  ObjectLook look;
};

/// The box around what the probe has lit, every `stride`-th pixel; the rest as of object_look.
ObjectPicture object_picture(const io::File& file, const WaveStack& probe, int stride,
                             std::optional<int> image = {});

/// 0 of what has no phase, whatever the sign of its zeros.
double wrapped_phase_rad(const std::complex<double>& value);

/// What a picture's black and white stand for: 0.5 % and 99.5 % of the lit pixels' values.
std::pair<double, double> shown_range(std::span<const double> values, const optics::PixelSet& lit);

}  // namespace tessera::analysis
