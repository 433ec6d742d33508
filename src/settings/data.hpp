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
  std::optional<std::string> raw_type;
  std::vector<int> raw_shape;
  int raw_offset_bytes = 0;
  int raw_gap_bytes = 0;
  bool follow_links = false;
  std::string patterns = "patterns";
  std::optional<std::string> positions = "positions_m";
  std::string positions_file;
  std::vector<int> positions_columns;
  std::vector<double> positions_scale;
  std::optional<std::string> valid_pixels;
  std::optional<std::string> bad_pixels;
  std::string mask_file;
  double saturation_counts = 0;
  std::string negative_counts = "refuse";
  double beam_stop_radius_px = 0;
  bool find_bad_pixels = true;
  bool find_bad_patterns = true;
  std::optional<std::string> background;
  std::string background_file;
  bool transpose = false;
  bool flip_y = false;
  bool flip_x = false;
  std::string zero_frequency = "centre";
  std::vector<double> centre_px;
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
         .meaning =
             "The file's format, one of those in docs/formats.md. `auto`: told from what the "
             "file holds; `hdf5`: any HDF5 file, with its datasets named below; `raw`: numbers "
             "without a header, as `raw_type` and `raw_shape` say."},
        {.name = "raw_type",
         .field = &raw_type,
         .meaning = "Numbers of a `raw` file: unsigned, signed or floating point, their bits, and "
                    "`be` if they are big-endian; `\"\"`: no `raw` file.",
         .choices = {"u8", "u16", "u16be", "u32", "u32be", "i16", "i32", "f32", "f64"},
         .none = ""},
        {.name = "raw_shape",
         .field = &raw_shape,
         .meaning = "Rows and columns of a pattern in a `raw` file, which holds as many as it has "
                    "bytes for.",
         .min = 1,
         .max = 100000,
         .length = 2},
        {.name = "raw_offset_bytes",
         .field = &raw_offset_bytes,
         .meaning = "Bytes of a `raw` file before its first pattern.",
         .min = 0,
         .max = 1e9},
        {.name = "raw_gap_bytes",
         .field = &raw_gap_bytes,
         .meaning = "Bytes of a `raw` file between one pattern and the next, such as a header of "
                    "each, which the last may have behind it too.",
         .min = 0,
         .max = 1e9},
        {.name = "follow_links",
         .field = &follow_links,
         .meaning = "Let the file's values lie outside its folder: behind its links, in sources of "
                    "its virtual datasets, in its external storage. Such a file can name any that "
                    "you can read; in its folder and below they are always followed."},
        {.name = "patterns",
         .field = &patterns,
         .meaning =
             "Dataset of the patterns, in counts: (position, y, x) or (scan_y, scan_x, y, x)."},
        {.name = "positions",
         .field = &positions,
         .meaning =
             "Dataset of the scan positions, (position, 2), metres, (y, x), or two datasets, of y "
             "and of x, with a comma between. Measured positions "
             "are better than a nominal raster; `\"\"` if the file has none.",
         .none = ""},
        {.name = "positions_file",
         .field = &positions_file,
         .meaning = "File of the positions if it is not `file`: HDF5, NumPy, or text with a line "
                    "for each position, its columns apart by spaces, tabs, commas or semicolons.",
         .is_path = true},
        {.name = "positions_columns",
         .field = &positions_columns,
         .meaning = "Columns of y and of x, from 0: `[1, 0]` for positions in the order x, y. "
                    "Empty: `[0, 1]`.",
         .min = 0,
         .max = 1000,
         .length = 2},
        {.name = "positions_scale",
         .field = &positions_scale,
         .meaning = "What y and x of the file are multiplied by to be metres, positive as "
                    "`data.raster_step_m` is: `[1e-6, 1e-6]` for micrometres, `[-1, -1]` if the "
                    "file tells where the sample was moved to, not the beam. Empty: `[1, 1]`.",
         .min = -1e3,
         .max = 1e3,
         .length = 2},
        {.name = "valid_pixels",
         .field = &valid_pixels,
         .meaning =
             "Dataset of the detector mask, 1 = trust: (y, x), or of the patterns' shape, one "
             "for each. Name it whenever the detector has gaps, dead or hot pixels; `\"\"`: "
             "trust all.",
         .none = ""},
        {.name = "bad_pixels",
         .field = &bad_pixels,
         .meaning = "The other polarity, instead of `valid_pixels`: 0 = trust, anything else, such "
                    "as a reason in bits, = bad.",
         .none = ""},
        {.name = "mask_file",
         .field = &mask_file,
         .meaning = "File of `valid_pixels` or `bad_pixels`, (y, x), if it is not `file`: HDF5, or "
                    "NumPy, whose array needs no name but `\"mask\"`.",
         .is_path = true},
        {.name = "saturation_counts",
         .field = &saturation_counts,
         .meaning =
             "Pixels of the file with as many counts or more are ignored, in the pattern where "
             "they are: saturated, or marked bad by a huge value; 0: none.",
         .min = 0,
         .max = 1e10},
        {.name = "negative_counts",
         .field = &negative_counts,
         .meaning =
             "What becomes of values below zero: `refuse` the scan; count them as `zero`, as "
             "where a dark was subtracted; or `ignore` the pixel in that pattern, as where "
             "gaps hold -1, and what is no number likewise.",
         .choices = {"refuse", "zero", "ignore"}},
        {.name = "beam_stop_radius_px",
         .field = &beam_stop_radius_px,
         .meaning = "Pixels of the file nearer than this to the zero frequency are ignored: the "
                    "shadow of a beam stop; 0: none.",
         .min = 0,
         .max = 10000},
        {.name = "find_bad_pixels",
         .field = &find_bad_pixels,
         .meaning =
             "Look at some of the patterns for pixels that no light explains, name them, and "
             "trust them no more: hot ones, five times as bright as what is around them, "
             "stuck ones (dead ones, too), which never change between bright ones that do, and, "
             "in the one pattern that has it, a flash of a cosmic ray."},
        {.name = "find_bad_patterns",
         .field = &find_bad_patterns,
         .meaning =
             "After 10, 20, 40 ... epochs look for single patterns that contradict those around "
             "them (a closed shutter, an image read twice, a wrong position), name them, "
             "and fit them no more."},
        {.name = "background",
         .field = &background,
         .meaning = "Dataset of a known background, (y, x), counts in a pattern, which the model "
                    "adds to the pattern: a dark measurement, scattering of air; `\"\"`: none.",
         .none = ""},
        {.name = "background_file",
         .field = &background_file,
         .meaning = "File of `background` if it is not `file`: HDF5, or NumPy, whose array needs "
                    "no name but `\"background\"`.",
         .is_path = true},
        {.name = "transpose",
         .field = &transpose,
         .meaning = "Exchange rows and columns of what the detector recorded: patterns, masks, "
                    "background, vacuum. Every other key then means the turned patterns; a quarter "
                    "turn is this and one flip."},
        {.name = "flip_y",
         .field = &flip_y,
         .meaning = "Turn their order of rows round, after `transpose`."},
        {.name = "flip_x", .field = &flip_x, .meaning = "Turn their order of columns round."},
        {.name = "zero_frequency",
         .field = &zero_frequency,
         .meaning =
             "Where the undiffracted beam is in the patterns: at pixel [h/2, w/2], as detectors "
             "record it, or at [0, 0], as an FFT returns it. Means nothing in the near field.",
         .choices = {"centre", "corner"}},
        {.name = "centre_px",
         .field = &centre_px,
         .meaning =
             "Pixel (y, x) of the undiffracted beam, from 0, if it is not [h/2, w/2]; cropping "
             "is about it. It is rounded: a part of a pixel is a phase ramp of the probe.",
         .min = 0,
         .max = 100000,
         .length = 2},
        {.name = "crop",
         .field = &crop,
         .meaning =
             "Rows and columns about the zero frequency that are used of the file's patterns; "
             "the object's pixels grow in proportion. Empty: all; with `centre_px` the largest "
             "square about it.",
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
    check_raw();
    check_raster();
    check_frame();
    check_images();
  }

 private:
  void check_raw() const {
    const bool has_raw =
        raw_type || !raw_shape.empty() || raw_offset_bytes != 0 || raw_gap_bytes != 0;
    require(format == "raw" || !has_raw,
            text("data.raw_* is given with data.format = \"", format,
                 "\"; set data.format = \"raw\", or leave data.raw_* out"));
    require(format != "raw" || (raw_type && !raw_shape.empty()),
            text("data.", raw_type ? "raw_shape" : "raw_type",
                 " is missing: data.format = \"raw\" needs data.raw_type = \"u16\" or another, and "
                 "data.raw_shape = [rows, columns] of a pattern"));
  }
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
  void check_images() const {
    require(!valid_pixels || !bad_pixels,
            text("data.valid_pixels = \"", valid_pixels.value_or(""), "\" and data.bad_pixels = \"",
                 bad_pixels.value_or(""),
                 "\" exclude each other: keep the one whose polarity is right"));
    require(mask_file.empty() || valid_pixels || bad_pixels,
            text("data.mask_file = \"", mask_file,
                 "\" needs data.valid_pixels (1 = trust) or data.bad_pixels (0 = trust)"));
    require(background_file.empty() || background,
            text("data.background_file = \"", background_file, "\" needs data.background"));
    require(positions_file.empty() || positions,
            text("data.positions_file = \"", positions_file,
                 "\" contradicts data.positions = \"\"; leave one out"));
    require(
        centre_px.empty() || zero_frequency == "centre",
        "data.centre_px contradicts data.zero_frequency = \"corner\", which says where the beam "
        "is; leave one out");
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
