// Scans in any HDF5 file, whose datasets are named.

#include "hdf5_scan.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <optional>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "array_file.hpp"
#include "dataset_series.hpp"

namespace tessera::io {

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

namespace {

int to_int(std::int64_t n) {
  return static_cast<int>(n);
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

/// Words of what is wrong with it; empty: nothing.
std::string fault_of(const DatasetInfo& found) {
  const std::size_t n_axes = found.extents.size();
  if (n_axes != 3 && n_axes != 4)
    return text("shape ", shape_text(found.extents),
                "; it must be (position, y, x) or (scan_y, scan_x, y, x)");
  if (!is_real(found.type)) return "its values are not real numbers";
  std::int64_t n_positions = 1;
  for (std::size_t i = 0; i < n_axes; ++i) {
    if (found.extents[i] < 1 || found.extents[i] > INT_MAX)
      return text("shape ", shape_text(found.extents), " holds no or too many patterns");
    if (i + 2 < n_axes) n_positions *= found.extents[i];
  }
  if (n_positions > INT_MAX)
    return text(n_positions, " patterns; at most ", INT_MAX, " are possible");
  if (!found.missing_filters.empty())
    return text("it is compressed with ", found.missing_filters.front());
  if (!found.missing_files.empty())
    return text("it is a virtual dataset whose values lie in \"", found.missing_files.front(),
                "\", which is not there; put it beside the file");
  return "";
}

void check_patterns(const std::string& path, const std::string& name, const DatasetInfo& found) {
  if (const std::string fault = fault_of(found); !fault.empty())
    throw InputError(text("dataset \"", name, "\" of \"", path, "\": ", fault));
}

class Hdf5Scan final : public ScanReader {
 public:
  Hdf5Scan(File file, const ScanSource& source, bool has_frames_last)
      : source_(source), file_(std::move(file)), has_frames_last_(has_frames_last) {}

  RecordedPatterns patterns() const override {
    const DatasetInfo found = patterns_info();
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
    recorded.is_deflated = found.is_deflated;
    return recorded;
  }

  std::vector<Vec2> positions_m() const override {
    if (!source_.positions) return {};
    if (!source_.positions_file.empty()) return read_positions_file(source_);
    std::vector<Array> arrays;
    for (const std::string& name : listed_names(*source_.positions))
      arrays.push_back(read_series(name));
    return io::positions_of(std::move(arrays), source_);
  }

  bool has_own_masks() const override {
    const std::optional<std::string>& mask = mask_name();
    return source_.mask_file.empty() && mask &&
           series_info(file_, *mask).extents == patterns_info().extents;
  }

  ImageStack<double> valid_pixels() const override {
    const std::optional<std::string>& mask = mask_name();
    if (!mask || has_own_masks()) return {};
    const Extents extents = file_.info(*mask).extents;
    const Extents patterns = patterns_info().extents;
    const Shape2 shape = detector(patterns);
    if (extents != Extents{shape.h, shape.w})
      throw InputError(text("shape ", shape_text(extents), "; it must be that of a pattern, (",
                            shape.h, ", ", shape.w, "), or of all patterns, ",
                            shape_text(patterns)));
    const ImageStack<double> image = images_of(read_series(*mask), shape);
    return source_.bad_pixels ? trusted_pixels(image, source_.harmless_bits) : image;
  }

  ImageStack<double> background() const override {
    return source_.background ? detector_images(*source_.background) : ImageStack<double>();
  }

  ImageStack<double> detector_images(const std::string& name) const override {
    return images_of(read_series(name), detector(patterns_info().extents));
  }

  WaveStack start_probe(const std::string& name) const override { return file_.read_waves(name); }

  void start_reading(PatternType as) override {
    has_raster_ = !patterns().raster.empty();
    pattern_slabs_.emplace(file_, source_.patterns, element_type(as));
    value_bytes_ = size_of(as);
    if (has_own_masks()) mask_slabs_.emplace(file_, *mask_name(), ElementType::u32);
  }
  void read_patterns(const Box& positions, const Box& pixels, std::byte* patterns) override {
    if (has_frames_last_) return read_frames_last(positions, pixels, patterns);
    read(*pattern_slabs_, positions, pixels, patterns);
  }
  void read_masks(const Box& positions, const Box& pixels, std::uint8_t* valid) override {
    flags_.resize(static_cast<std::size_t>(positions.area() * pixels.area()));
    read(*mask_slabs_, positions, pixels, flags_.data());
    const std::uint32_t harmless = source_.harmless_bits;
    const bool is_bad = source_.bad_pixels.has_value();
    std::ranges::transform(flags_, valid, [&](std::uint32_t flags) {
      return static_cast<std::uint8_t>(is_bad ? (flags & ~harmless) == 0 : flags != 0);
    });
  }
  std::int64_t bytes() const override { return file_.bytes_on_disk(); }

 private:
  static Shape2 detector(const Extents& patterns) {
    return {to_int(patterns[patterns.size() - 2]), to_int(patterns[patterns.size() - 1])};
  }

  /// With the position first, wherever the file has it. @throws InputError if they are none
  DatasetInfo patterns_info() const {
    DatasetInfo found = series_info(file_, source_.patterns);
    if (has_frames_last_)
      for (Extents* axes : {&found.extents, &found.chunk})
        if (!axes->empty()) std::ranges::rotate(*axes, axes->end() - 1);
    check_patterns(file_.path(), source_.patterns, found);
    return found;
  }
  const std::optional<std::string>& mask_name() const {
    return source_.bad_pixels ? source_.bad_pixels : source_.valid_pixels;
  }
  Array read_series(const std::string& name) const {
    Array all{series_info(file_, name).extents, {}};
    for (const std::string& part : series_names(file_, name)) {
      const std::vector<double> values = file_.read_doubles(part);
      all.values.insert(all.values.end(), values.begin(), values.end());
    }
    return all;
  }

  void read(SeriesReader& slabs, const Box& positions, const Box& pixels, void* values) const {
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

  void read_frames_last(const Box& positions, const Box& pixels, std::byte* patterns) {
    const std::array<std::int64_t, 3> first{pixels.begin.y, pixels.begin.x, positions.begin.y};
    const std::array<std::int64_t, 3> size{pixels.height(), pixels.width(), positions.height()};
    const std::int64_t n_pixels = pixels.area();
    swapped_.resize(static_cast<std::size_t>(n_pixels * size[2]) * value_bytes_);
    pattern_slabs_->read(first, size, swapped_.data());
    const std::byte* from = swapped_.data();
    for (std::int64_t pixel = 0; pixel < n_pixels; ++pixel)
      for (std::int64_t p = 0; p < size[2]; ++p, from += value_bytes_)
        std::memcpy(patterns + static_cast<std::size_t>(p * n_pixels + pixel) * value_bytes_, from,
                    value_bytes_);
  }

  ScanSource source_;
  File file_;
  bool has_frames_last_;
  bool has_raster_ = false;
  std::size_t value_bytes_ = 0;     ///< of a pattern's value, as read
  std::vector<std::byte> swapped_;  ///< patterns as a file has them that has frames last
  std::optional<SeriesReader> pattern_slabs_;
  std::optional<SeriesReader> mask_slabs_;
  std::vector<std::uint32_t> flags_;  ///< of masks as they are in the file
};

}  // namespace

std::unique_ptr<ScanReader> open_hdf5_scan(File file, const ScanSource& source,
                                           bool has_frames_last) {
  return std::make_unique<Hdf5Scan>(std::move(file), source, has_frames_last);
}

}  // namespace tessera::io
