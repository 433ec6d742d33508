#include "report/encoded_picture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include <zlib.h>

#include "tessera/base/error.hpp"

namespace tessera::report {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes compressed(const Bytes& bytes) {
  uLongf length = compressBound(bytes.size());
  Bytes out(length);
  if (compress2(out.data(), &length, bytes.data(), bytes.size(), Z_BEST_COMPRESSION) != Z_OK)
    throw SystemError("a picture of the report cannot be compressed: too little memory");
  out.resize(length);
  return out;
}

std::string base64(const Bytes& bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k) three = three << 8 | (k < n ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += k <= n ? digits[three >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

Bytes row_differences(Shape2 shape, const std::vector<std::uint16_t>& levels) {
  const std::size_t n = levels.size();
  Bytes bytes(2 * n);
  for (std::size_t r = 0; r < n; ++r) {
    const std::uint16_t before = r % static_cast<std::size_t>(shape.w) == 0 ? 0 : levels[r - 1];
    const auto difference = static_cast<std::uint16_t>(levels[r] - before);
    bytes[r] = static_cast<std::uint8_t>(difference & 255);
    bytes[n + r] = static_cast<std::uint8_t>(difference >> 8);
  }
  return bytes;
}

}  // namespace

Json encoded_picture(Shape2 shape, std::span<const double> values) {
  std::vector<double> known;
  std::ranges::copy_if(values, std::back_inserter(known),
                       [](double v) { return std::isfinite(v); });
  if (known.empty()) known.push_back(0);
  std::ranges::sort(known);
  const double min = known.front();
  const double max = known.back();
  const double scale = max > min ? (n_levels - 1) / (max - min) : 0;
  std::vector<std::uint16_t> levels(values.size(), no_level);
  for (std::size_t r = 0; r < values.size(); ++r)
    if (std::isfinite(values[r]))
      levels[r] = static_cast<std::uint16_t>(std::lround(scale * (values[r] - min)));
  const auto quantile = [&](double q) {
    return known[static_cast<std::size_t>(q * static_cast<double>(known.size() - 1))];
  };
  return {{"shape", {shape.h, shape.w}},
          {"min", min},
          {"max", max},
          {"shown", {quantile(0.005), quantile(0.995)}},
          {"samples", base64(compressed(row_differences(shape, levels)))}};
}

}  // namespace tessera::report
