#pragma once
/// Where the measurement lies, and what of it is used.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/text.hpp"

#include "settings/key.hpp"

namespace tessera::settings {

struct Data {
  std::string file;
  std::string format = "auto";
  std::string patterns = "patterns";
  std::optional<std::string> positions = "positions_m";
  std::optional<std::string> valid_pixels;
  double saturation_counts = 0;
  double beam_stop_radius_px = 0;
  std::optional<std::string> background;
  std::string zero_frequency = "centre";
  std::vector<int> crop;
  int bin = 1;
  std::vector<int> pad_to;
  std::vector<int> raster_shape;
  std::vector<double> raster_step_m;
  double raster_rotation_rad = 0;
  bool subpixel = true;
  int subpixel_bins = 16;

  std::vector<Key> keys() {
    return {
        {.name = "file",
         .field = &file,
         .meaning = "File of the diffraction patterns. `simulate` writes it.",
         .is_path = true},
        {.name = "format",
         .field = &format,
         .meaning = "The file's format. `auto`: told from what the file holds; `hdf5`: any HDF5 "
                    "file, with its datasets named below."},
        {.name = "patterns",
         .field = &patterns,
         .meaning =
             "Dataset of the patterns, in counts: (position, y, x) or (scan_y, scan_x, y, x)."},
        {.name = "positions",
         .field = &positions,
         .meaning =
             "Dataset of the scan positions, (position, 2), metres, (y, x). Measured positions "
             "are better than a nominal raster; `\"\"` if the file has none.",
         .none = ""},
        {.name = "valid_pixels",
         .field = &valid_pixels,
         .meaning =
             "Dataset of the detector mask, 1 = trust: (y, x), or of the patterns' shape, one "
             "for each. Name it whenever the detector has gaps, dead or hot pixels; `\"\"`: "
             "trust all.",
         .none = ""},
        {.name = "saturation_counts",
         .field = &saturation_counts,
         .meaning =
             "Pixels of the file with as many counts or more are ignored, in the pattern where "
             "they are: saturated, or marked bad by a huge value; 0: none.",
         .min = 0,
         .max = 1e10},
        {.name = "beam_stop_radius_px",
         .field = &beam_stop_radius_px,
         .meaning = "Pixels of the file nearer than this to the zero frequency are ignored: the "
                    "shadow of a beam stop; 0: none.",
         .min = 0,
         .max = 10000},
        {.name = "background",
         .field = &background,
         .meaning = "Dataset of a known background, (y, x), counts in a pattern, which the model "
                    "adds to the pattern; `\"\"`: none.",
         .none = ""},
        {.name = "zero_frequency",
         .field = &zero_frequency,
         .meaning =
             "Where the undiffracted beam is in the patterns: at pixel [h/2, w/2], as detectors "
             "record it, or at [0, 0], as an FFT returns it. Means nothing in the near field.",
         .choices = {"centre", "corner"}},
        {.name = "crop",
         .field = &crop,
         .meaning =
             "Rows and columns about the zero frequency that are used of the file's patterns; "
             "the object's pixels grow in proportion. Empty: all.",
         .min = 1,
         .max = 100000,
         .length = 2},
        {.name = "bin",
         .field = &bin,
         .meaning = "Detector pixels, in each direction, that are summed into one, after cropping. "
                    "For probes much smaller than their window, which shrinks in proportion.",
         .min = 1,
         .max = 16},
        {.name = "pad_to",
         .field = &pad_to,
         .meaning =
             "Rows and columns of a larger detector in whose middle the patterns are put, "
             "after binning; the added pixels are not trusted. The object's pixels shrink in "
             "proportion (super-resolution). Empty: none.",
         .min = 1,
         .max = 100000,
         .length = 2},
        {.name = "raster_shape",
         .field = &raster_shape,
         .meaning =
             "Rows and columns of a raster scan without measured positions. Needed only when "
             "the patterns are 3-D; 4-D patterns tell it themselves.",
         .min = 1,
         .max = 100000,
         .length = 2},
        {.name = "raster_step_m",
         .field = &raster_step_m,
         .meaning = "Step between rows and between columns of that raster, metres; negative if the "
                    "scan runs backwards.",
         .min = -0.01,
         .max = 0.01,
         .length = 2,
         .hint = "steps are in metres: did you give micrometres?"},
        {.name = "raster_rotation_rad",
         .field = &raster_rotation_rad,
         .meaning = "Angle of that raster to the detector, radians, from +x towards +y. In 4D-STEM "
                    "the scan is often turned by tens of degrees.",
         .min = -6.3,
         .max = 6.3,
         .hint = "angles are in radians: did you give degrees?"},
        {.name = "subpixel",
         .field = &subpixel,
         .meaning =
             "Shift the probe by the part of each position that is not a whole pixel. Without "
             "it positions are rounded: faster, less sharp."},
        {.name = "subpixel_bins",
         .field = &subpixel_bins,
         .meaning =
             "Positions are rounded to 1 / subpixel_bins pixel, so that positions of a batch "
             "share shifted probes and need fewer transforms; 0: exact.",
         .min = 0,
         .max = 64},
    };
  }

  /// @throws InputError
  void check() const {
    require(!file.empty(), "data.file is missing: name the file of the diffraction patterns");
    require(!patterns.empty(),
            "data.patterns is missing: name the dataset of the diffraction patterns");
    check_raster();
    check_frame();
  }

 private:
  /// A raster replaces measured positions; it must not be ignored silently, nor be needed and
  /// absent.
  void check_raster() const {
    const bool has_step = !raster_step_m.empty();
    const bool has_raster = has_step || !raster_shape.empty() || raster_rotation_rad != 0;
    if (positions) {
      require(!has_raster, text("data.raster_* is given, but the positions are read from "
                                "data.positions = \"",
                                *positions, "\"; set data.positions = \"\" to use the raster"));
      return;
    }
    require(has_step,
            "data.raster_step_m is missing: without data.positions the scan is a raster, "
            "whose step (rows, columns) in metres must be given");
    require(std::ranges::any_of(raster_step_m, [](double step) { return step != 0; }),
            "data.raster_step_m = [0, 0] would put every position at the same place");
  }
  /// What can be said before the patterns' shape is known.
  void check_frame() const {
    if (crop.empty()) return;
    const auto pair_text = [](const std::vector<int>& pair) {
      return text('[', pair[0], ", ", pair[1], ']');
    };
    const std::string cropped = "data.crop = " + pair_text(crop);
    require(crop[0] % bin == 0 && crop[1] % bin == 0,
            text(cropped, " is not a multiple of data.bin = ", bin));
    require(pad_to.empty() || (pad_to[0] >= crop[0] / bin && pad_to[1] >= crop[1] / bin),
            text("data.pad_to = ", pair_text(pad_to.empty() ? crop : pad_to), " is smaller than ",
                 cropped, " after data.bin = ", bin, "; make it larger or crop to it"));
  }
};

}  // namespace tessera::settings
