// Stacks of TIFF images, a page for each pattern, as libtiff reads them: BigTIFF, strips and tiles,
// LZW, Deflate, PackBits and whatever else it was built with.

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <tiffio.h>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "byte_source.hpp"
#include "flat_scan.hpp"

namespace tessera::io {
namespace {

/// What libtiff said last; it prints otherwise.
std::string& last_complaint() {
  static std::string words;
  return words;
}

void keep_complaint(const char*, const char* format, va_list values) {
  std::array<char, 256> words{};
  std::vsnprintf(words.data(), words.size(), format, values);
  last_complaint() = words.data();
}

/// Values of all pages one after another, in this machine's byte order.
class TiffPages final : public ByteSource {
 public:
  explicit TiffPages(const std::string& path) : path_(path) {
    TIFFSetErrorHandler(keep_complaint);
    TIFFSetWarningHandler(nullptr);  // private tags and the like
    last_complaint().clear();
    tiff_.reset(TIFFOpen(path.c_str(), "rm"));
    if (!tiff_) fail(last_complaint());
    shape_ = {static_cast<int>(number(TIFFTAG_IMAGELENGTH)),
              static_cast<int>(number(TIFFTAG_IMAGEWIDTH))};
    type_ = type_of_page();
    const auto n_bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
    do {
      check_page(n_bytes);
      places_.push_back(TIFFCurrentDirOffset(tiff_.get()));
    } while (TIFFReadDirectory(tiff_.get()));
    if (!last_complaint().empty()) fail(last_complaint() + ": it is cut short or damaged");
    if (places_.size() > INT_MAX) fail(text(places_.size(), " pages are too many"));
    page_.resize(static_cast<std::size_t>(shape_.size() * type_.bytes));
  }

  Shape2 shape() const { return shape_; }
  NumberType type() const { return type_; }
  int n_pages() const { return static_cast<int>(places_.size()); }

  void read(std::int64_t at, std::int64_t n, void* to) override {
    const std::int64_t page = at / std::ssize(page_);
    if (page != in_memory_) unpack(page);
    std::memcpy(to, page_.data() + at % std::ssize(page_), static_cast<std::size_t>(n));
  }

 private:
  struct Close {
    void operator()(TIFF* tiff) const { TIFFClose(tiff); }
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(text('"', path_, "\": ", what));
  }
  std::uint32_t number(std::uint32_t tag) const {
    std::uint32_t value = 0;
    TIFFGetField(tiff_.get(), tag, &value);
    return value;
  }
  std::uint16_t small_number(std::uint32_t tag) const {
    std::uint16_t value = 0;
    TIFFGetFieldDefaulted(tiff_.get(), tag, &value);
    return value;
  }

  NumberType type_of_page() const {
    const int bits = small_number(TIFFTAG_BITSPERSAMPLE);
    const int format = small_number(TIFFTAG_SAMPLEFORMAT);
    const char kind = format == SAMPLEFORMAT_IEEEFP ? 'f' : format == SAMPLEFORMAT_INT ? 'i' : 'u';
    const bool is_read = kind == 'f' ? bits == 32 || bits == 64
                                     : bits == 8 || bits == 16 || bits == 32 || bits == 64;
    if (!is_read || format == SAMPLEFORMAT_COMPLEXIEEEFP || format == SAMPLEFORMAT_COMPLEXINT ||
        small_number(TIFFTAG_SAMPLESPERPIXEL) != 1)
      fail(text("pages must be grey, of whole numbers or floats of 8 to 64 bits, not ",
                small_number(TIFFTAG_SAMPLESPERPIXEL), " times ", bits,
                " bits; python3 -c \"import numpy, tifffile; numpy.save('scan.npy', "
                "tifffile.imread('scan.tif'))\" converts what tifffile reads"));
    if (!TIFFIsCODECConfigured(small_number(TIFFTAG_COMPRESSION)))
      fail(text("its compression, number ", small_number(TIFFTAG_COMPRESSION),
                ", is not in this libtiff; save it with another, or as .npy"));
    return {kind, bits / 8, std::endian::native == std::endian::big};
  }

  /// As the first page, and all of it in the file.
  void check_page(std::int64_t n_file_bytes) const {
    const Shape2 shape{static_cast<int>(number(TIFFTAG_IMAGELENGTH)),
                       static_cast<int>(number(TIFFTAG_IMAGEWIDTH))};
    const NumberType type = type_of_page();
    if (shape != shape_ || shape.size() == 0 || type.kind != type_.kind ||
        type.bytes != type_.bytes)
      fail(text("page ", places_.size(), " of ", shape.h, " x ", shape.w, " pixels of ",
                8 * type.bytes, " bits after pages of ", shape_.h, " x ", shape_.w, " of ",
                8 * type_.bytes));
    for (std::uint32_t part = 0; part < n_parts(); ++part)
      if (static_cast<std::int64_t>(TIFFGetStrileOffset(tiff_.get(), part) +
                                    TIFFGetStrileByteCount(tiff_.get(), part)) > n_file_bytes)
        fail(text("page ", places_.size(), " is cut short; copy or write it again"));
  }
  std::uint32_t n_parts() const {
    return TIFFIsTiled(tiff_.get()) ? TIFFNumberOfTiles(tiff_.get())
                                    : TIFFNumberOfStrips(tiff_.get());
  }

  void unpack(std::int64_t page) {
    in_memory_ = -1;
    last_complaint().clear();
    bool is_read = TIFFSetSubDirectory(tiff_.get(), places_[static_cast<std::size_t>(page)]) == 1;
    for (std::uint32_t part = 0; is_read && part < n_parts(); ++part)
      is_read = TIFFIsTiled(tiff_.get()) ? unpack_tile(part) : unpack_strip(part);
    if (!is_read)
      fail(text("page ", page, " cannot be read: ", last_complaint(), "; copy or write it again"));
    in_memory_ = page;
  }
  bool unpack_strip(std::uint32_t strip) {
    const std::int64_t row_bytes = std::int64_t{shape_.w} * type_.bytes;
    std::uint32_t rows = 0;
    TIFFGetFieldDefaulted(tiff_.get(), TIFFTAG_ROWSPERSTRIP, &rows);
    const std::int64_t first = std::int64_t{strip} * rows;
    const std::int64_t n = std::min<std::int64_t>(rows, shape_.h - first) * row_bytes;
    return TIFFReadEncodedStrip(tiff_.get(), strip, page_.data() + first * row_bytes, n) == n;
  }
  bool unpack_tile(std::uint32_t tile) {
    const auto h = static_cast<int>(number(TIFFTAG_TILELENGTH));
    const auto w = static_cast<int>(number(TIFFTAG_TILEWIDTH));
    tile_.resize(static_cast<std::size_t>(TIFFTileSize(tiff_.get())));
    if (TIFFReadEncodedTile(tiff_.get(), tile, tile_.data(), std::ssize(tile_)) !=
        std::ssize(tile_))
      return false;
    const int n_across = (shape_.w + w - 1) / w;
    const int top = static_cast<int>(tile) / n_across * h;
    const int left = static_cast<int>(tile) % n_across * w;
    const std::int64_t n = std::int64_t{std::min(w, shape_.w - left)} * type_.bytes;
    for (int y = 0; y < std::min(h, shape_.h - top); ++y)
      std::memcpy(page_.data() + (std::int64_t{top + y} * shape_.w + left) * type_.bytes,
                  tile_.data() + std::int64_t{y} * w * type_.bytes, static_cast<std::size_t>(n));
    return true;
  }

  std::string path_;
  std::unique_ptr<TIFF, Close> tiff_;
  Shape2 shape_;
  NumberType type_;
  std::vector<std::uint64_t> places_;  ///< of the pages' directories
  std::int64_t in_memory_ = -1;
  std::vector<std::byte> page_;
  std::vector<std::byte> tile_;
};

FlatPatterns tiff_patterns(const ScanSource& source) {
  const auto pages = std::make_shared<TiffPages>(source.path);
  FlatPatterns flat{.path = source.path, .type = pages->type()};
  flat.shape = pages->shape();
  flat.n_positions = pages->n_pages();
  flat.unpacked = pages;
  return flat;
}

bool is_tiff(const ScanSource& source) {
  std::array<char, 4> start{};
  std::ifstream(source.path, std::ios::binary).read(start.data(), 4);
  const std::string_view words(start.data(), 4);
  return words == std::string_view("II*\0", 4) || words == std::string_view("MM\0*", 4) ||
         words == std::string_view("II+\0", 4) || words == std::string_view("MM\0+", 4);
}

}  // namespace

ScanFormat tiff_scans() {
  return {"tiff", "a TIFF file", is_tiff,
          [](const ScanSource& source, const comm::Communicator*) {
            return open_flat_scan(tiff_patterns(source), source);
          },
          [](const ScanSource&) {
            ScanDescription scan;
            scan.what = "TIFF file, a page for each pattern";
            return std::optional(scan);
          }};
}

}  // namespace tessera::io
