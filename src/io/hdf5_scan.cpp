// Scans in any HDF5 file, whose datasets the deck names.

#include <algorithm>
#include <array>
#include <climits>
#include <optional>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"

#include "hdf5_handle.hpp"
#include "scan_format.hpp"

namespace tessera::io {
namespace {

int to_int(std::int64_t n) {
  return static_cast<int>(n);
}

std::string shape_text(const Extents& extents) {
  std::vector<std::string> sizes;
  for (const std::int64_t n : extents) sizes.push_back(text(n));
  return text('(', joined(sizes), ')');
}

ElementType element_type(PatternType type) {
  switch (type) {
    case PatternType::u8:
      return ElementType::u8;
    case PatternType::u16:
      return ElementType::u16;
    case PatternType::u32:
      return ElementType::u32;
    case PatternType::f32:
      break;
  }
  return ElementType::f32;
}

PatternType pattern_type(ElementType type) {
  switch (type) {
    case ElementType::u8:
      return PatternType::u8;
    case ElementType::u16:
      return PatternType::u16;
    case ElementType::u32:
      return PatternType::u32;
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

class Hdf5Scan final : public ScanReader {
 public:
  Hdf5Scan(const ScanSource& source, const comm::Communicator* comm)
      : source_(source), file_(comm ? File::open(source.path, *comm) : File::open(source.path)) {}

  RecordedPatterns patterns() const override {
    const DatasetInfo found = file_.info(source_.patterns);
    check_patterns(found);
    const Extents& extents = found.extents;
    const std::size_t n_axes = extents.size();
    RecordedPatterns recorded;
    recorded.n_positions = to_int(extents[0]);
    if (n_axes == 4) {
      recorded.raster = {to_int(extents[0]), to_int(extents[1])};
      recorded.n_positions *= recorded.raster[1];
    }
    recorded.shape = {to_int(extents[n_axes - 2]), to_int(extents[n_axes - 1])};
    recorded.type = pattern_type(found.type);
    recorded.element_bytes = found.element_bytes;
    // A chunk may be larger than all that is in it.
    const auto chunk_size = [&](std::size_t axis) {
      return to_int(std::min(found.chunk[axis], extents[axis]));
    };
    if (!found.chunk.empty())
      recorded.positions_per_chunk = {chunk_size(0), n_axes == 4 ? chunk_size(1) : 1};
    recorded.is_virtual = found.is_virtual;
    return recorded;
  }

  std::vector<Vec2> positions_m() const override {
    if (!source_.positions) return {};
    const Extents extents = file_.info(*source_.positions).extents;
    if (extents.size() != 2 || extents[1] != 2)
      throw InputError(
          text("shape ", shape_text(extents), "; it must be (position, 2): y, x in metres"));
    const std::vector<double> values = file_.read_doubles(*source_.positions);
    std::vector<Vec2> positions;
    for (std::size_t i = 0; i < values.size(); i += 2)
      positions.push_back({values[i], values[i + 1]});
    return positions;
  }

  bool has_own_masks() const override {
    return source_.valid_pixels &&
           file_.info(*source_.valid_pixels).extents == file_.info(source_.patterns).extents;
  }

  ImageStack<double> valid_pixels() const override {
    if (!source_.valid_pixels || has_own_masks()) return {};
    const Extents extents = file_.info(*source_.valid_pixels).extents;
    const Extents patterns = file_.info(source_.patterns).extents;
    const Shape2 shape = detector(patterns);
    if (extents != Extents{shape.h, shape.w})
      throw InputError(text("shape ", shape_text(extents), "; it must be that of a pattern, (",
                            shape.h, ", ", shape.w, "), or of all patterns, ",
                            shape_text(patterns)));
    return read_images(*source_.valid_pixels, 1, shape);
  }

  ImageStack<double> background() const override {
    return source_.background ? detector_images(*source_.background) : ImageStack<double>();
  }

  ImageStack<double> detector_images(const std::string& name) const override {
    const Extents extents = file_.info(name).extents;
    const Shape2 shape = detector(file_.info(source_.patterns).extents);
    const std::size_t n_axes = extents.size();
    if (n_axes < 2 || n_axes > 3 || extents[n_axes - 2] != shape.h ||
        extents[n_axes - 1] != shape.w)
      throw InputError(text("shape ", shape_text(extents), "; it must be that of a pattern, (",
                            shape.h, ", ", shape.w, "), or (n, ", shape.h, ", ", shape.w, ')'));
    return read_images(name, n_axes == 3 ? to_int(extents[0]) : 1, shape);
  }

  WaveStack start_probe(const std::string& name) const override { return file_.read_waves(name); }

  void start_reading(PatternType as) override {
    has_raster_ = !patterns().raster.empty();
    pattern_slabs_.emplace(file_, source_.patterns, element_type(as));
    if (has_own_masks()) mask_slabs_.emplace(file_, *source_.valid_pixels, ElementType::u8);
  }
  void read_patterns(const Box& positions, const Box& pixels, std::byte* patterns) override {
    read(*pattern_slabs_, positions, pixels, patterns);
  }
  void read_masks(const Box& positions, const Box& pixels, std::uint8_t* valid) override {
    read(*mask_slabs_, positions, pixels, valid);
  }
  std::int64_t bytes() const override { return file_.bytes_on_disk(); }

 private:
  static Shape2 detector(const Extents& patterns) {
    return {to_int(patterns[patterns.size() - 2]), to_int(patterns[patterns.size() - 1])};
  }

  ImageStack<double> read_images(const std::string& name, int n, Shape2 shape) const {
    const std::vector<double> values = file_.read_doubles(name);
    ImageStack<double> images(n, shape);
    std::copy(values.begin(), values.end(), images.begin());
    return images;
  }

  void read(const SlabReader& slabs, const Box& positions, const Box& pixels, void* values) const {
    std::array<std::int64_t, 4> begin{positions.begin.y, positions.begin.x, pixels.begin.y,
                                      pixels.begin.x};
    std::array<std::int64_t, 4> count{positions.height(), positions.width(), pixels.height(),
                                      pixels.width()};
    std::span<std::int64_t> first(begin);
    std::span<std::int64_t> size(count);
    if (!has_raster_) {  // one column of positions, which the file has no axis for
      begin[1] = begin[0];
      count[1] = count[0];
      first = first.subspan(1);
      size = size.subspan(1);
    }
    slabs.read(first, size, values);
  }

  ScanSource source_;
  File file_;
  bool has_raster_ = false;
  std::optional<SlabReader> pattern_slabs_;
  std::optional<SlabReader> mask_slabs_;
};

}  // namespace

ScanFormat hdf5_scans() {
  return {"hdf5", "an HDF5 file", [](const std::string& path) { return is_hdf5(path); },
          [](const ScanSource& source, const comm::Communicator* comm) {
            return std::unique_ptr<ScanReader>(std::make_unique<Hdf5Scan>(source, comm));
          }};
}

}  // namespace tessera::io
