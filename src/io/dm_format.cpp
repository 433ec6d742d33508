// DigitalMicrograph's 4D-STEM cubes and stacks of diffraction patterns (.dm3, .dm4).

#include <algorithm>
#include <climits>
#include <cmath>
#include <fstream>
#include <map>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "array_file.hpp"
#include "dm_tags.hpp"
#include "electron_statements.hpp"
#include "flat_scan.hpp"

namespace tessera::io {
namespace {

/// An image of the file. The first axis of a tag is the one that runs fastest.
struct DmImage {
  std::string name;  ///< "ImageList/1/"
  Extents extents = {};
  std::int64_t size = 0;
};

/// Without axes if it holds no numbers.
DmImage image(const DmTags& tags, const std::string& name) {
  DmImage image{.name = name};
  const DmTag* data = tags.find(name + "ImageData/Data");
  if (!data) return image;
  image.size = 1;
  for (int i = 0; const auto extent = tags.number(text(name, "ImageData/Dimensions/", i)); ++i) {
    if (!(*extent >= 1 && *extent <= INT_MAX) || image.size > data->count)
      tags.fail(name + "ImageData/Dimensions is damaged");
    image.extents.push_back(static_cast<std::int64_t>(*extent));
    image.size *= image.extents.back();
  }
  return image;
}

/// The largest of three or four axes that is no cube of spectra; the first is a small picture of
/// it.
DmImage patterns_image(const DmTags& tags) {
  DmImage largest;
  for (int i = 0;; ++i) {
    const std::string name = text("ImageList/", i, '/');
    if (!tags.has_any(name)) break;
    const DmImage found = image(tags, name);
    const std::size_t n_axes = found.extents.size();
    if ((n_axes == 3 || n_axes == 4) && found.size > largest.size &&
        tags.words(name + "ImageTags/Meta Data/Format") != "Spectrum image")
      largest = found;
  }
  if (largest.size == 0)
    tags.fail("it holds no scan of diffraction patterns, an image of three or four axes");
  return largest;
}

NumberType type_of(const DmTags& tags, const DmImage& image) {
  static const std::map<int, NumberType> types{
      {1, {'i', 2}},  {2, {'f', 4}},  {6, {'u', 1}},  {7, {'i', 4}},  {9, {'i', 1}}, {10, {'u', 2}},
      {11, {'u', 4}}, {12, {'f', 8}}, {14, {'b', 1}}, {39, {'i', 8}}, {40, {'u', 8}}};
  const auto type = tags.number(image.name + "ImageData/DataType");
  const auto found = types.find(static_cast<int>(type.value_or(0)));
  if (found == types.end())
    tags.fail(text("its values are of type ", number(type.value_or(0)),
                   "; whole numbers and floats are read"));
  NumberType of_file = found->second;
  of_file.big_endian = tags.is_big_endian();
  return of_file;
}

/// Older cubes, and those that the tag does not say to be swapped, keep all positions of a pixel
/// together, and name the scan's axes before the detector's.
bool keeps_patterns_together(const DmTags& tags, const DmImage& image) {
  return image.extents.size() == 3 ||
         tags.number(image.name + "ImageTags/Meta Data/Data Order Swapped").value_or(0) != 0;
}

FlatPatterns dm_patterns(const ScanSource& source) {
  const DmTags tags(source.path);
  const DmImage image = patterns_image(tags);
  const DmTag& data = *tags.find(image.name + "ImageData/Data");
  FlatPatterns flat{
      .path = source.path, .type = type_of(tags, image), .first_byte = data.first_byte};
  if (image.size * flat.type.bytes > data.count * data.type.bytes)
    tags.fail("its data are shorter than its dimensions; it is damaged");
  Extents e = image.extents;
  flat.has_frames_last = !keeps_patterns_together(tags, image);
  if (flat.has_frames_last) std::ranges::rotate(e, e.begin() + 2);
  const std::int64_t n = e.size() == 4 ? e[2] * e[3] : e[2];
  if (n > INT_MAX) tags.fail(text(n, " patterns are too many"));
  flat.shape = {static_cast<int>(e[1]), static_cast<int>(e[0])};
  flat.n_positions = static_cast<int>(n);
  if (e.size() == 4) flat.raster = {static_cast<int>(e[3]), static_cast<int>(e[2])};
  return flat;
}

std::optional<Fact> axis_step(const DmTags& tags, const DmImage& image, int axis) {
  const std::string name = text(image.name, "ImageData/Calibrations/Dimension/", axis, '/');
  const auto scale = tags.number(name + "Scale");
  if (!scale || *scale == 0) return {};
  return Fact{name + "Scale", std::abs(*scale), tags.words(name + "Units")};
}

std::optional<ScanDescription> describe_dm(const std::string& path) {
  const DmTags tags(path);
  const DmImage image = patterns_image(tags);
  ScanDescription scan;
  scan.what = image.extents.size() == 4 ? "DigitalMicrograph file of a 4D-STEM scan"
                                        : "DigitalMicrograph file of a stack of patterns";
  const std::string voltage = image.name + "ImageTags/Microscope Info/Voltage";
  const auto said = tags.number(voltage);
  std::optional<double> voltage_V;
  if (said && *said > 0) voltage_V = state_voltage({voltage, *said, "V"}, scan);
  const bool is_swapped = keeps_patterns_together(tags, image);
  state_detector(axis_step(tags, image, is_swapped ? 0 : 2), voltage_V, scan);
  if (image.extents.size() == 4)
    state_raster(axis_step(tags, image, is_swapped ? 3 : 1),
                 axis_step(tags, image, is_swapped ? 2 : 0), scan);
  return scan;
}

/// Version, and the order of the data that follows the root's length.
bool is_dm(const ScanSource& source) {
  std::string start(16, '\0');
  std::ifstream(source.path, std::ios::binary).read(start.data(), 16);
  if (!start.starts_with(std::string_view("\0\0\0", 3)) || (start[3] != 3 && start[3] != 4))
    return false;
  const std::string_view order = std::string_view(start).substr(start[3] == 3 ? 8 : 12, 4);
  return order == std::string_view("\0\0\0\1", 4) || order == std::string_view("\0\0\0\0", 4);
}

}  // namespace

ScanFormat dm_scans() {
  return {"dm", "a DigitalMicrograph file", is_dm,
          [](const ScanSource& source, const comm::Communicator*) {
            return open_flat_scan(dm_patterns(source), source);
          },
          [](const ScanSource& source) { return describe_dm(source.path); }};
}

}  // namespace tessera::io
