#include "flat_scan.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array_file.hpp"
#include "numpy_file.hpp"
#include "stored_patterns.hpp"

namespace tessera::io {
namespace {

class FlatScan final : public ScanReader {
 public:
  FlatScan(const FlatPatterns& patterns, const ScanSource& source)
      : flat_(patterns), source_(source), file_(open(patterns.path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0)
      throw InputError(text('"', flat_.path, "\" cannot be read: ", std::strerror(errno)));
    try {
      check_whole();
    } catch (const InputError&) {
      close(file_);
      throw;
    }
  }
  FlatScan(const FlatScan&) = delete;
  FlatScan& operator=(const FlatScan&) = delete;
  ~FlatScan() override { close(file_); }

  RecordedPatterns patterns() const override {
    RecordedPatterns patterns;
    patterns.n_positions = flat_.n_positions;
    patterns.raster = flat_.raster;
    patterns.shape = flat_.shape;
    patterns.type = pattern_type(flat_.type);
    patterns.element_bytes = flat_.type.bytes;
    // Long runs of positions: the more, the fewer reads.
    constexpr std::int64_t frames_last_bytes = std::int64_t{64} << 20;
    if (flat_.has_frames_last)
      patterns.positions_per_chunk = {
          static_cast<int>(std::clamp<std::int64_t>(
              frames_last_bytes / (pattern_bytes() * flat_.raster[1]), 1, flat_.raster[0])),
          flat_.raster[1]};
    return patterns;
  }

  std::vector<Vec2> positions_m() const override {
    if (!source_.positions) return {};
    if (!is_numpy_archive(source_.path)) {
      throw InputError(
          text('"', source_.path,
               "\" holds patterns alone; name the positions' file in "
               "data.positions_file, or set data.positions = \"\" and give data.raster_step_m"));
    }
    std::vector<Array> arrays;
    for (const std::string& name : listed_names(*source_.positions))
      arrays.push_back(read_array(source_.path, name));
    return io::positions_of(arrays, source_);
  }
  bool has_own_masks() const override { return false; }
  ImageStack<double> valid_pixels() const override {
    if (source_.bad_pixels) return trusted_pixels(detector_images(*source_.bad_pixels));
    return source_.valid_pixels ? detector_images(*source_.valid_pixels) : ImageStack<double>();
  }
  ImageStack<double> background() const override {
    return source_.background ? detector_images(*source_.background) : ImageStack<double>();
  }
  ImageStack<double> detector_images(const std::string& name) const override {
    require_names(name);
    return images_of(read_array(source_.path, name), flat_.shape);
  }
  WaveStack start_probe(const std::string& name) const override {
    require_names(name);
    return read_probe_file(source_.path, name);
  }

  void start_reading(PatternType as) override {
    as_ = as;
    bytes_.reserve(static_cast<std::size_t>(pattern_bytes()));
  }
  void read_patterns(const Box& positions, const Box& pixels, std::byte* patterns) override {
    if (flat_.has_frames_last) return read_frames_last(positions, pixels, patterns);
    const int columns = flat_.raster.empty() ? 1 : flat_.raster[1];
    for (int y = positions.begin.y; y < positions.end.y; ++y)
      for (int x = positions.begin.x; x < positions.end.x; ++x)
        patterns = read_pattern(std::int64_t{y} * columns + x, pixels, patterns);
  }
  void read_masks(const Box&, const Box&, std::uint8_t*) override {}
  std::int64_t bytes() const override {
    struct stat status{};
    if (fstat(file_, &status) != 0)
      throw SystemError(text("the size of \"", flat_.path, "\" cannot be found"));
    return status.st_size;
  }

 private:
  /// In floating point, for what a header says may be beyond 64 bits. @throws InputError
  void check_whole() const {
    with_number(flat_.type, [](auto) {});
    if (std::min({flat_.n_positions, flat_.shape.h, flat_.shape.w}) < 1)
      throw InputError(text('"', flat_.path, "\" says that it holds ", flat_.n_positions,
                            " patterns of ", flat_.shape.h, " x ", flat_.shape.w, " pixels"));
    constexpr double max_compression = 4096;  // of deflate 1032, of LZW somewhat more
    const double pattern = double{1} * flat_.shape.h * flat_.shape.w * flat_.type.bytes;
    const auto between = static_cast<double>(flat_.bytes_between);
    const double needed =
        pattern +
        (flat_.first_bytes.empty()
             ? static_cast<double>(flat_.first_byte) + (flat_.n_positions - 1) * (pattern + between)
             : static_cast<double>(std::ranges::max(flat_.first_bytes)));
    const double there = static_cast<double>(bytes()) * (flat_.unpacked ? max_compression : 1);
    if (there < needed)
      throw InputError(text('"', flat_.path, "\" is cut short, at ", bytes(), " of ",
                            std::llround(std::min(needed, 1e18)),
                            " bytes; copy or write it again"));
  }
  std::int64_t pattern_bytes() const { return flat_.shape.size() * flat_.type.bytes; }
  std::int64_t first_byte(std::int64_t position) const {
    if (!flat_.first_bytes.empty()) return flat_.first_bytes[static_cast<std::size_t>(position)];
    return flat_.first_byte + position * (pattern_bytes() + flat_.bytes_between);
  }
  void require_names(const std::string& name) const {
    if (!is_numpy_archive(source_.path))
      throw InputError(text('"', source_.path, "\" holds patterns alone, no \"", name,
                            "\"; name its file: data.mask_file, data.background_file or "
                            "probe.dataset_file"));
  }

  /// The rows of `pixels`, and of these its columns. @return behind what was written
  std::byte* read_pattern(std::int64_t position, const Box& pixels, std::byte* to) {
    const std::int64_t row_bytes = std::int64_t{flat_.shape.w} * flat_.type.bytes;
    read_bytes(first_byte(position) + pixels.begin.y * row_bytes, pixels.height() * row_bytes);
    with_number(flat_.type, [&](auto of_file) {
      with_type(as_, [&](auto wanted) {
        using From = decltype(of_file);
        using To = decltype(wanted);
        for (int y = 0; y < pixels.height(); ++y) {
          const std::byte* from =
              bytes_.data() + y * row_bytes + pixels.begin.x * std::int64_t{sizeof(From)};
          for (int x = 0; x < pixels.width(); ++x) {
            const To value =
                static_cast<To>(number_at<From>(from + x * sizeof(From), flat_.type.big_endian));
            std::memcpy(to, &value, sizeof(To));
            to += sizeof(To);
          }
        }
      });
    });
    return to;
  }

  void read_frames_last(const Box& positions, const Box& pixels, std::byte* patterns) {
    const std::int64_t columns = flat_.raster[1];
    const bool are_whole_rows = positions.width() == columns;
    const std::int64_t n_runs = are_whole_rows ? 1 : positions.height();
    const std::int64_t n_in_run = positions.area() / n_runs;
    const std::int64_t n_pixels = pixels.area();
    std::int64_t place = 0;  // of the pixel in its pattern
    for (int y = pixels.begin.y; y < pixels.end.y; ++y)
      for (int x = pixels.begin.x; x < pixels.end.x; ++x, ++place) {
        const std::int64_t pixel = std::int64_t{y} * flat_.shape.w + x;
        for (std::int64_t run = 0; run < n_runs; ++run) {
          const std::int64_t position = (positions.begin.y + run) * columns + positions.begin.x;
          read_bytes(flat_.first_byte + (pixel * flat_.n_positions + position) * flat_.type.bytes,
                     n_in_run * flat_.type.bytes);
          spread_run(n_in_run, run * n_in_run * n_pixels + place, n_pixels, patterns);
        }
      }
  }

  /// What was read, to every `stride`-th value from `first`.
  void spread_run(std::int64_t n, std::int64_t first, std::int64_t stride, std::byte* to) const {
    with_number(flat_.type, [&](auto of_file) {
      with_type(as_, [&](auto wanted) {
        using From = decltype(of_file);
        using To = decltype(wanted);
        for (std::int64_t i = 0; i < n; ++i) {
          const To value = static_cast<To>(
              number_at<From>(bytes_.data() + i * sizeof(From), flat_.type.big_endian));
          std::memcpy(to + (first + i * stride) * sizeof(To), &value, sizeof(To));
        }
      });
    });
  }

  void read_bytes(std::int64_t first, std::int64_t n) {
    bytes_.resize(static_cast<std::size_t>(n));
    if (flat_.unpacked) return flat_.unpacked->read(first, n, bytes_.data());
    for (std::int64_t done = 0; done < n;) {
      const ssize_t got = pread(file_, bytes_.data() + done, static_cast<std::size_t>(n - done),
                                static_cast<off_t>(first + done));
      if (got <= 0)
        throw InputError(text('"', flat_.path, "\": reading ", n, " bytes at ", first,
                              " failed: ", got < 0 ? std::strerror(errno) : "the file ends there",
                              "; copy or write it again"));
      done += got;
    }
  }

  FlatPatterns flat_;
  ScanSource source_;
  int file_;
  PatternType as_ = PatternType::f32;
  std::vector<std::byte> bytes_;  ///< of the pattern that is read
};

}  // namespace

std::unique_ptr<ScanReader> open_flat_scan(const FlatPatterns& patterns, const ScanSource& source) {
  return std::make_unique<FlatScan>(patterns, source);
}

}  // namespace tessera::io
