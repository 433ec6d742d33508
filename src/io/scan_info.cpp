#include <algorithm>
#include <climits>
#include <cmath>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"
#include "tessera/io/scan_reader.hpp"

#include "detector_images.hpp"

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

/// Puts the deck's key in front of what `work` throws.
template <class Work>
auto for_key(const std::string& key, Work&& work) {
  try {
    return work();
  } catch (const InputError& error) {
    throw InputError(text(key, ": ", error.what()));
  }
}

/// In which sums of bin x bin pixels fit too.
PatternType pattern_type(ElementType type, int bin) {
  switch (type) {
    case ElementType::u8:
      return bin == 1 ? PatternType::u8 : PatternType::u16;
    case ElementType::u16:
      return bin == 1 ? PatternType::u16 : PatternType::u32;
    case ElementType::u32:
      return bin == 1 ? PatternType::u32 : PatternType::f32;
    default:
      return PatternType::f32;
  }
}

void check_patterns(const DatasetInfo& found) {
  const std::size_t n_axes = found.extents.size();
  if (n_axes != 3 && n_axes != 4)
    throw InputError(text("shape ", shape_text(found.extents),
                          "; it must be (position, y, x) or (scan_y, scan_x, y, x)"));
  if (!is_real(found.type)) throw InputError("its values are not real numbers");
  std::int64_t n_positions = 1;
  for (std::size_t i = 0; i < n_axes; ++i) {
    if (found.extents[i] < 1 || found.extents[i] > INT_MAX)
      throw InputError(text("shape ", shape_text(found.extents), " holds no or too many patterns"));
    if (i + 2 < n_axes) n_positions *= found.extents[i];
  }
  if (n_positions > INT_MAX)
    throw InputError(text(n_positions, " patterns; at most ", INT_MAX, " are possible"));
  if (!found.missing_filters.empty())
    throw InputError(
        text("it is compressed with ", joined(found.missing_filters),
             ", which this HDF5 does not have; point HDF5_PLUGIN_PATH to the plugin or "
             "repack the file with h5repack -f GZIP=1"));
}

void read_pattern_info(const DatasetInfo& found, const ScanSource& source, ScanInfo& info) {
  const auto size = [](std::int64_t n) { return static_cast<int>(n); };
  const Extents& extents = found.extents;
  const std::size_t n_axes = extents.size();
  const Shape2 recorded{size(extents[n_axes - 2]), size(extents[n_axes - 1])};
  info.frame = geometry::make_frame(recorded, source.crop, source.bin, source.pad_to);
  info.pattern = info.frame.pattern;
  info.n_positions = size(extents[0]);
  if (n_axes == 4) {
    info.raster = {size(extents[0]), size(extents[1])};
    info.n_positions *= info.raster[1];
  }
  info.type = pattern_type(found.type, source.bin);
  info.is_virtual = found.is_virtual;
  // A chunk may be larger than all that is in it.
  const auto chunk_size = [&](std::size_t axis) {
    return size(std::min(found.chunk[axis], extents[axis]));
  };
  if (!found.chunk.empty())
    info.positions_per_chunk = {chunk_size(0), n_axes == 4 ? chunk_size(1) : 1};
}

std::vector<Vec2> read_positions(const File& file, const std::string& name, int n_positions) {
  const Extents extents = file.info(name).extents;
  if (extents.size() != 2 || extents[1] != 2)
    throw InputError(
        text("shape ", shape_text(extents), "; it must be (position, 2): y, x in metres"));
  if (extents[0] != n_positions)
    throw InputError(
        text(extents[0], " positions for ", n_positions, " patterns; there must be as many"));
  const std::vector<double> values = file.read_doubles(name);
  std::vector<Vec2> positions;
  for (std::size_t i = 0; i < values.size(); i += 2) {
    if (!std::isfinite(values[i]) || !std::isfinite(values[i + 1]))
      throw InputError(text("scan position ", i / 2, " is (", values[i], ", ", values[i + 1],
                            "); positions must be finite"));
    positions.push_back({values[i], values[i + 1]});
  }
  return positions;
}

ScanInfo read_alone(const ScanSource& source) {
  const File file = for_key("data.file", [&] { return File::open(source.path); });
  ScanInfo info;
  const auto key = [](const char* name, const std::string& value) {
    return text(name, " = \"", value, '"');
  };
  for_key(key("data.patterns", source.patterns), [&] {
    const DatasetInfo found = file.info(source.patterns);
    check_patterns(found);
    read_pattern_info(found, source, info);
  });
  if (source.positions)
    for_key(key("data.positions", *source.positions),
            [&] { info.positions_m = read_positions(file, *source.positions, info.n_positions); });
  for_key(key("data.valid_pixels", source.valid_pixels.value_or("")),
          [&] { read_masks(file, source, info); });
  if (source.background)
    for_key(key("data.background", *source.background),
            [&] { info.background = read_detector_image(source, info, *source.background); });
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

ScanInfo read_scan_info(const ScanSource& source, const comm::Communicator& comm) {
  ScanInfo info;
  comm.together([&] {
    if (comm.is_root()) info = read_alone(source);
  });
  broadcast(info, comm);
  return info;
}

}  // namespace tessera::io
