#pragma once
/// Grey values of a PNG.

#include <string>
#include <vector>

#include <png.h>

#include "tessera/base/image_stack.hpp"

namespace tessera::testing {

/// Empty: there is no such picture.
inline ImageStack<std::uint8_t> png_pixels(const std::string& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&image, path.c_str()) == 0) return {};
  image.format = PNG_FORMAT_GRAY;
  ImageStack<std::uint8_t> pixels(1,
                                  {static_cast<int>(image.height), static_cast<int>(image.width)});
  png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr);
  return pixels;
}

}  // namespace tessera::testing
