#include "sections.hpp"

namespace tessera::deck {

std::vector<Key> data_keys(Data& data) {
  return {
      {.name = "data.file",
       .field = &data.file,
       .meaning = "File of the diffraction patterns. `simulate` writes it.",
       .is_path = true},
      {.name = "data.format",
       .field = &data.format,
       .meaning = "How the file is laid out. `hdf5`: any HDF5 file, with its datasets named below.",
       .choices = {"hdf5"}},
      {.name = "data.patterns",
       .field = &data.patterns,
       .meaning =
           "Dataset of the patterns, in counts: (position, y, x) or (scan_y, scan_x, y, x)."},
      {.name = "data.positions",
       .field = &data.positions,
       .meaning =
           "Dataset of the scan positions, (position, 2), metres, (y, x). Measured positions "
           "are better than a nominal raster; `\"\"` if the file has none.",
       .none = ""},
      {.name = "data.valid_pixels",
       .field = &data.valid_pixels,
       .meaning = "Dataset of the detector mask, 1 = trust: (y, x), or of the patterns' shape, one "
                  "for each. Name it whenever the detector has gaps, dead or hot pixels; `\"\"`: "
                  "trust all.",
       .none = ""},
      {.name = "data.saturation_counts",
       .field = &data.saturation_counts,
       .meaning =
           "Pixels of the file with as many counts or more are ignored, in the pattern where "
           "they are: saturated, or marked bad by a huge value; 0: none.",
       .least = 0,
       .greatest = 1e10},
      {.name = "data.beam_stop_radius_px",
       .field = &data.beam_stop_radius_px,
       .meaning = "Pixels of the file nearer than this to the zero frequency are ignored: the "
                  "shadow of a beam stop; 0: none.",
       .least = 0,
       .greatest = 10000},
      {.name = "data.background",
       .field = &data.background,
       .meaning = "Dataset of a known background, (y, x), counts in a pattern, which the model "
                  "adds to the pattern; `\"\"`: none.",
       .none = ""},
      {.name = "data.zero_frequency",
       .field = &data.zero_frequency,
       .meaning =
           "Where the undiffracted beam is in the patterns: at pixel [h/2, w/2], as detectors "
           "record it, or at [0, 0], as an FFT returns it. Means nothing in the near field.",
       .choices = {"centre", "corner"}},
      {.name = "data.crop",
       .field = &data.crop,
       .meaning = "Rows and columns about the zero frequency that are used of the file's patterns; "
                  "the object's pixels grow in proportion. Empty: all.",
       .least = 1,
       .greatest = 100000,
       .length = 2},
      {.name = "data.bin",
       .field = &data.bin,
       .meaning = "Detector pixels, in each direction, that are summed into one, after cropping. "
                  "For probes much smaller than their window, which shrinks in proportion.",
       .least = 1,
       .greatest = 16},
      {.name = "data.pad_to",
       .field = &data.pad_to,
       .meaning = "Rows and columns of a larger detector in whose middle the patterns are put, "
                  "after binning; the added pixels are not trusted. The object's pixels shrink in "
                  "proportion (super-resolution). Empty: none.",
       .least = 1,
       .greatest = 100000,
       .length = 2},
      {.name = "data.raster_shape",
       .field = &data.raster_shape,
       .meaning = "Rows and columns of a raster scan without measured positions. Needed only when "
                  "the patterns are 3-D; 4-D patterns tell it themselves.",
       .least = 1,
       .greatest = 100000,
       .length = 2},
      {.name = "data.raster_step_m",
       .field = &data.raster_step_m,
       .meaning = "Step between rows and between columns of that raster, metres; negative if the "
                  "scan runs backwards.",
       .least = -0.01,
       .greatest = 0.01,
       .length = 2,
       .hint = "steps are in metres: did you give micrometres?"},
      {.name = "data.raster_rotation_rad",
       .field = &data.raster_rotation_rad,
       .meaning = "Angle of that raster to the detector, radians, from +x towards +y. In 4D-STEM "
                  "the scan is often turned by tens of degrees.",
       .least = -6.3,
       .greatest = 6.3,
       .hint = "angles are in radians: did you give degrees?"},
      {.name = "data.subpixel",
       .field = &data.subpixel,
       .meaning = "Shift the probe by the part of each position that is not a whole pixel. Without "
                  "it positions are rounded: faster, less sharp."},
      {.name = "data.subpixel_bins",
       .field = &data.subpixel_bins,
       .meaning = "Positions are rounded to 1 / subpixel_bins pixel, so that positions of a batch "
                  "share shifted probes and need fewer transforms; 0: exact.",
       .least = 0,
       .greatest = 64},
  };
}

}  // namespace tessera::deck
