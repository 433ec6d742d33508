#include <algorithm>
#include <cmath>
#include <fstream>

#include "tessera/base/error.hpp"
#include "tessera/base/naming.hpp"
#include "tessera/base/text.hpp"

#include "array_file.hpp"
#include "detector_images.hpp"
#include "io/scan_reader.hpp"
#include "readable_file.hpp"
#include "scan_format.hpp"

namespace tessera::io {

std::size_t size_of(PatternType type) {
  switch (type) {
    case PatternType::u8:
      return 1;
    case PatternType::u16:
      return 2;
    case PatternType::u32:
    case PatternType::f32:
      break;
  }
  return 4;
}

namespace {

/// The first characters of a file, as far as they can be printed.
std::string beginning(const std::string& path) {
  std::string words(16, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(words.data(), std::ssize(words));
  words.resize(static_cast<std::size_t>(file.gcount()));
  for (char& c : words)
    if (c < ' ' || c > '~') c = '.';
  return words;
}

/// In which sums of bin x bin pixels fit too.
PatternType pattern_type(PatternType recorded, int bin) {
  if (bin == 1) return recorded;
  switch (recorded) {
    case PatternType::u8:
      return PatternType::u16;
    case PatternType::u16:
      return PatternType::u32;
    default:
      return PatternType::f32;
  }
}

void set_patterns(const RecordedPatterns& recorded, const ScanSource& source, ScanInfo& info) {
  info.n_positions = recorded.n_positions;
  info.raster = recorded.raster;
  info.frame = geometry::make_frame(recorded.shape, source.crop, source.bin, source.pad_to,
                                    source.turn, source.centre_px);
  info.pattern = info.frame.pattern;
  constexpr int max_px = 1 << 14;
  if (std::max(info.pattern.h, info.pattern.w) > max_px)
    throw InputError(text("patterns of ", info.pattern.h, " x ", info.pattern.w, " pixels in \"",
                          source.path, "\", after data.crop, data.bin and data.pad_to; at most ",
                          max_px, " each way"));
  info.type = pattern_type(recorded.type, source.bin);
  info.positions_per_chunk = recorded.positions_per_chunk;
  info.is_virtual = recorded.is_virtual;
  info.is_deflated = recorded.is_deflated;
}

void check_positions(const std::vector<Vec2>& positions_m, int n_patterns) {
  if (static_cast<int>(positions_m.size()) != n_patterns)
    throw InputError(text(positions_m.size(), " positions for ", n_patterns,
                          " patterns; there must be as many: write those of the patterns, in "
                          "their order, a line each, to a text file and name it in "
                          "data.positions_file; of frames without a position (dark, or taken "
                          "after the scan) write the others to a file of their own"));
  for (std::size_t i = 0; i < positions_m.size(); ++i)
    if (!std::isfinite(positions_m[i].y) || !std::isfinite(positions_m[i].x))
      throw InputError(text("scan position ", i, " is (", positions_m[i].y, ", ", positions_m[i].x,
                            "); positions must be finite"));
  const auto is_first = [&](const Vec2& at) {
    return at.y == positions_m[0].y && at.x == positions_m[0].x;
  };
  if (n_patterns > 1 && std::ranges::all_of(positions_m, is_first))
    throw InputError(text("all ", n_patterns, " positions are (", positions_m[0].y, ", ",
                          positions_m[0].x, "): were they never written?"));
}

/// The key, with what the deck says.
std::string key(const char* name, const std::optional<std::string>& value) {
  return value ? text(name, " = \"", *value, '"') : std::string(name);
}

std::string mask_key(const ScanSource& source) {
  return source.bad_pixels ? key("data.bad_pixels", source.bad_pixels)
                           : key("data.valid_pixels", source.valid_pixels);
}

ImageStack<double> read_mask_file(const ScanSource& source, const ScanInfo& info) {
  const std::string& name = source.bad_pixels ? *source.bad_pixels : *source.valid_pixels;
  const Array array = read_array(source.mask_file, name, source.links);
  if (array.extents.size() != 2)
    throw InputError(text('"', source.mask_file, "\": shape ", shape_text(array.extents),
                          "; a mask apart from the patterns must be (y, x)"));
  const ImageStack<double> image = images_of(array, info.frame.stored());
  return source.bad_pixels ? trusted_pixels(image) : image;
}

/// What is wrong with a part of a scan names the deck's key and the file; `apart`: if another than
/// the patterns'.
template <class Work>
auto reading(const std::string& key, const ScanSource& source, const std::string& apart,
             const Work& work) {
  return naming(key, [&] { return naming_file(apart.empty() ? source.path : apart, work); });
}

ScanInfo read_alone(const ScanSource& source, const ScanFormat& format) {
  const auto file = reading("data.file", source, "", [&] { return format.open(source, nullptr); });
  ScanInfo info;
  reading(key("data.patterns", source.patterns), source, "",
          [&] { set_patterns(file->patterns(), source, info); });
  reading(key("data.positions", source.positions), source, source.positions_file, [&] {
    const bool apart = !source.positions_file.empty();
    info.positions_m = apart ? read_positions_file(source) : file->positions_m();
    if (source.positions || !info.positions_m.empty())
      check_positions(info.positions_m, info.n_positions);
  });
  reading(mask_key(source), source, source.mask_file, [&] {
    const bool apart = !source.mask_file.empty();
    info.has_own_masks = file->has_own_masks();
    set_masks(apart ? read_mask_file(source, info) : file->valid_pixels(), source, info);
  });
  reading(key("data.background", source.background), source, source.background_file, [&] {
    const ImageStack<double> recorded =
        source.background_file.empty()
            ? file->background()
            : images_of(read_array(source.background_file, *source.background, source.links),
                        info.frame.stored());
    if (recorded.n() > 0) info.background = framed_mean(recorded, source, info);
  });
  return info;
}

template <class T>
void broadcast_vector(std::vector<T>& values, const comm::Communicator& comm) {
  auto size = static_cast<std::int64_t>(values.size());
  comm.broadcast(std::span(&size, 1));
  values.resize(static_cast<std::size_t>(size));
  comm.broadcast(std::span(values));
}

void broadcast(ScanInfo& info, const comm::Communicator& comm) {
  comm.broadcast(std::span(&info.n_positions, 1));
  comm.broadcast(std::span(&info.frame, 1));
  comm.broadcast(std::span(&info.pattern, 1));
  comm.broadcast(std::span(&info.type, 1));
  comm.broadcast(std::span(&info.positions_per_chunk, 1));
  comm.broadcast(std::span(&info.is_virtual, 1));
  comm.broadcast(std::span(&info.is_deflated, 1));
  broadcast_vector(info.raster, comm);
  broadcast_vector(info.positions_m, comm);
  if (!comm.is_root()) info.valid_pixels = ImageStack<std::uint8_t>(1, info.pattern);
  comm.broadcast(std::span(info.valid_pixels.data(), info.valid_pixels.size()));
  comm.broadcast(std::span(&info.has_own_masks, 1));
  comm.broadcast(std::span(&info.saturation, 1));
  int n_backgrounds = info.background.n();
  comm.broadcast(std::span(&n_backgrounds, 1));
  if (!comm.is_root()) info.background = ImageStack<double>(n_backgrounds, info.pattern);
  comm.broadcast(std::span(info.background.data(), info.background.size()));
}

}  // namespace

const ScanFormat& find_format(const ScanSource& source, std::span<const ScanFormat> formats) {
  std::vector<std::string> names;
  std::vector<std::string> kinds;
  for (const ScanFormat& format : formats) {
    if (!format.recognises) continue;
    names.emplace_back(format.name);
    if (std::ranges::find(kinds, format.what) == kinds.end()) kinds.emplace_back(format.what);
  }
  if (source.format != "auto") {
    const auto named = std::ranges::find(formats, source.format, &ScanFormat::name);
    if (named == formats.end())
      throw InputError(text("data.format = \"", source.format,
                            "\" is not known; it must be \"auto\" or one of ", joined(names)));
    // Formats of HDF5 files say more of it when they open theirs.
    if (named->recognises && named->what != "an HDF5 file") {
      check_readable(source.path);
      if (!named->recognises(source))
        throw InputError(text('"', source.path, "\" is not ", named->what, ", as data.format = \"",
                              source.format, "\" says: it begins with \"", beginning(source.path),
                              "\"; leave data.format out"));
    }
    return *named;
  }
  check_readable(source.path);
  const auto found = std::ranges::find_if(formats, [&](const ScanFormat& format) {
    return format.recognises && format.recognises(source);
  });
  if (found == formats.end())
    throw InputError(text('"', source.path, "\" is not ", joined(kinds, " or "),
                          ": it begins with \"", beginning(source.path), "\"; data.format knows ",
                          joined(names),
                          "; if it is numbers alone, say so in a deck: data.format = \"raw\", "
                          "data.raw_type = \"u16\" or another, data.raw_shape = [rows, columns], "
                          "data.raw_offset_bytes; or, for init to look at them: python3 -c "
                          "\"import numpy; numpy.save('scan.npy', numpy.fromfile('scan.raw', "
                          "'<u2', offset=0).reshape(-1, 256, 256))\""));
  return *found;
}

ScanInfo read_scan_info(const ScanSource& source, const comm::Communicator& comm,
                        std::span<const ScanFormat> formats) {
  ScanInfo info;
  int format = 0;
  comm.together([&] {
    if (!comm.is_root()) return;
    format = naming("data.file", [&] {
      return static_cast<int>(&find_format(source, formats) - formats.data());
    });
    info = read_alone(source, formats[static_cast<std::size_t>(format)]);
  });
  broadcast(info, comm);
  comm.broadcast(std::span(&format, 1));
  info.format = &formats[static_cast<std::size_t>(format)];
  return info;
}

ScanInfo read_scan_info(const ScanSource& source, const comm::Communicator& comm) {
  return read_scan_info(source, comm, scan_formats());
}

}  // namespace tessera::io
