// TIFF 6.0 (Adobe 1992): each page's values, then its directory; pages follow one another.

#include <cmath>

#include "byte_writer.hpp"
#include "exports.hpp"

namespace tessera::io {
namespace {

enum FieldType : std::uint16_t { text_field = 2, short_field = 3, long_field = 4, ratio_field = 5 };

struct Field {
  std::uint16_t tag;
  FieldType type;
  std::uint32_t count;
  std::uint32_t value;  ///< or where it stands
};

/// Pixels per centimetre, as whole numbers' ratio: to 9 digits, whatever the pixel.
std::pair<std::uint32_t, std::uint32_t> resolution(double pixel_m) {
  const double per_cm = 0.01 / pixel_m;
  const double denominator = std::clamp(std::floor(4e9 / per_cm), 1.0, 4e9);
  return {static_cast<std::uint32_t>(std::lround(std::min(4e9, per_cm * denominator))),
          static_cast<std::uint32_t>(denominator)};
}

/// Begins with where its own directory is, which ends the header or the directory before.
void write_page(ByteWriter& file, const TiffPage& page, double pixel_m, bool is_last) {
  const auto at = [&] { return static_cast<std::uint32_t>(file.n_bytes()); };
  const std::size_t n_bytes = 4 * page.image.size();
  const std::uint32_t values_at = at() + 4;  // behind the place of the directory
  const std::uint32_t words_at = values_at + static_cast<std::uint32_t>(n_bytes);
  const auto n_words = static_cast<std::uint32_t>(page.description.size() + 1);
  const std::uint32_t ratio_at = words_at + (n_words + 7) / 8 * 8;
  file.number(ratio_at + 8);
  file.bytes({reinterpret_cast<const char*>(page.image.data()), n_bytes});
  file.bytes({page.description.c_str(), n_words});
  while (at() < ratio_at) file.number(std::uint8_t{0});
  const auto [numerator, denominator] = resolution(pixel_m);
  file.number(numerator);
  file.number(denominator);
  const auto h = static_cast<std::uint32_t>(page.image.h());
  const auto w = static_cast<std::uint32_t>(page.image.w());
  const std::vector<Field> fields{{256, long_field, 1, w},
                                  {257, long_field, 1, h},
                                  {258, short_field, 1, 32},
                                  {259, short_field, 1, 1},  // not compressed
                                  {262, short_field, 1, 1},  // 0 is black
                                  {270, text_field, n_words, words_at},
                                  {273, long_field, 1, values_at},
                                  {277, short_field, 1, 1},
                                  {278, long_field, 1, h},
                                  {279, long_field, 1, static_cast<std::uint32_t>(n_bytes)},
                                  {282, ratio_field, 1, ratio_at},
                                  {283, ratio_field, 1, ratio_at},
                                  {296, short_field, 1, 3},   // per centimetre
                                  {339, short_field, 1, 3}};  // floats
  file.number(static_cast<std::uint16_t>(fields.size()));
  for (const Field& field : fields) {
    file.number(field.tag);
    file.number<std::uint16_t>(field.type);
    file.number(field.count);
    file.number(field.value);
  }
  if (is_last) file.number(std::uint32_t{0});
}

}  // namespace

void write_tiff(const std::string& path, const std::vector<TiffPage>& pages, double pixel_m) {
  std::int64_t n_bytes = 0;
  for (const TiffPage& page : pages)
    n_bytes += 4 * std::ssize(page.image) + std::ssize(page.description) + 1024;
  if (n_bytes > 0xffffffff)
    throw InputError(text(n_bytes,
                          " bytes are more than a TIFF file holds, 4 GiB; write .npz or "
                          ".cxi"));
  ByteWriter file(path);
  file.bytes({"II*\0", 4});
  for (std::size_t i = 0; i < pages.size(); ++i)
    write_page(file, pages[i], pixel_m, i + 1 == pages.size());
  file.close();
}

}  // namespace tessera::io
