// Patterns as pages of TIFF files.
#include <array>
#include <filesystem>

#include <tiffio.h>

#include "io/known_formats.hpp"

namespace tessera::io {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace testing;

/// What write_tiff makes has floats; a stack of 16-bit pages, big endian, as ImageJ writes them.
TEST_F(KnownFormats, TiffWithAPageForEachPattern) {
  source_.path = folder_.file("scan.tif");
  source_.positions.reset();
  on_root([&] {
    const Numbers all = patterns(0, 9);
    std::string bytes("MM\0*", 4);
    append(bytes, std::uint32_t{8}, true);
    for (int p = 0; p < n_positions; ++p) {
      const auto at = static_cast<std::uint32_t>(bytes.size());
      const std::uint32_t values_at = at + 2 + 6 * 12 + 4;
      append(bytes, std::uint16_t{6}, true);
      for (const auto& [tag, value] : std::vector<std::pair<int, std::uint32_t>>{
               {256, 6}, {257, 5}, {258, 16}, {259, 1}, {273, values_at}, {279, 60}}) {
        append(bytes, static_cast<std::uint16_t>(tag), true);
        append(bytes, std::uint16_t{4}, true);
        append(bytes, std::uint32_t{1}, true);
        append(bytes, value, true);
      }
      append(bytes, p + 1 < n_positions ? values_at + 60 : std::uint32_t{0}, true);
      for (int r = 0; r < shape.size(); ++r)
        append(bytes, static_cast<std::uint16_t>(all[static_cast<std::size_t>(p * 30 + r)]), true);
    }
    write(source_.path, bytes);
  });
  expect_the_scan("tiff", false);
  on_root([&] { std::filesystem::resize_file(source_.path, 500); });
  EXPECT_THAT(agreed_error([&] { read_scan_info(source_, world()); }), HasSubstr("cut short"));
}

struct TiffStorage {
  const char* mode;
  int compression;
  bool is_tiled;
};

class PackedTiff : public KnownFormats, public ::testing::WithParamInterface<TiffStorage> {
 protected:
  void write_pages() {
    const auto [mode, compression, is_tiled] = GetParam();
    TIFF* file = TIFFOpen(source_.path.c_str(), mode);
    const Numbers all = patterns(0, n_positions);
    for (int p = 0; p < n_positions; ++p) {
      TIFFSetField(file, TIFFTAG_IMAGEWIDTH, shape.w);
      TIFFSetField(file, TIFFTAG_IMAGELENGTH, shape.h);
      TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 16);
      TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, 1);
      TIFFSetField(file, TIFFTAG_COMPRESSION, compression);
      // Strips of two rows, the last of one; tiles that reach beyond the page.
      if (is_tiled) {
        TIFFSetField(file, TIFFTAG_TILEWIDTH, 16);
        TIFFSetField(file, TIFFTAG_TILELENGTH, 16);
      } else {
        TIFFSetField(file, TIFFTAG_ROWSPERSTRIP, 2);
      }
      std::vector<std::uint16_t> tile(16 * 16, 7);
      for (int y = 0; y < shape.h; ++y)
        for (int x = 0; x < shape.w; ++x)
          tile[static_cast<std::size_t>(16 * y + x)] = static_cast<std::uint16_t>(
              all[static_cast<std::size_t>((p * shape.h + y) * shape.w + x)]);
      if (is_tiled) {
        TIFFWriteEncodedTile(file, 0, tile.data(), 512);
      } else {
        for (int y = 0; y < shape.h; ++y)
          TIFFWriteScanline(file, &tile[static_cast<std::size_t>(16 * y)],
                            static_cast<std::uint32_t>(y), 0);
      }
      TIFFWriteDirectory(file);
    }
    TIFFClose(file);
  }
};

TEST_P(PackedTiff, IsReadPageByPage) {
  source_.path = folder_.file("scan.tif");
  source_.positions.reset();
  on_root([&] { write_pages(); });
  expect_the_scan("tiff", false);
}

INSTANTIATE_TEST_SUITE_P(AsOthersWriteThem, PackedTiff,
                         ::testing::Values(TiffStorage{"wb", COMPRESSION_LZW, false},
                                           TiffStorage{"wl8", COMPRESSION_ADOBE_DEFLATE, false},
                                           TiffStorage{"wl", COMPRESSION_PACKBITS, false},
                                           TiffStorage{"wl", COMPRESSION_LZW, true}));

TEST_F(KnownFormats, TiffOfColours) {
  source_.path = folder_.file("scan.tif");
  on_root([&] {
    TIFF* file = TIFFOpen(source_.path.c_str(), "w");
    TIFFSetField(file, TIFFTAG_IMAGEWIDTH, 2);
    TIFFSetField(file, TIFFTAG_IMAGELENGTH, 1);
    TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, 3);
    TIFFSetField(file, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
    TIFFSetField(file, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    std::array<std::uint8_t, 6> row{};
    TIFFWriteScanline(file, row.data(), 0, 0);
    TIFFClose(file);
  });
  EXPECT_THAT(agreed_error([&] { read_scan_info(source_, world()); }),
              AllOf(HasSubstr("scan.tif"), HasSubstr("3 times 8 bits")));
}

}  // namespace
}  // namespace tessera::io
