#include <cmath>
#include <filesystem>
#include <limits>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>
#include <png.h>

#include "tessera/base/error.hpp"

#include "io/png.hpp"

namespace tessera::io {
namespace {

struct Picture {
  int h = 0;
  int w = 0;
  std::vector<png_byte> pixels;
};

Picture read_png(const std::string& path, png_uint_32 format) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_file(&image, path.c_str()), 0) << image.message;
  image.format = format;
  Picture picture{static_cast<int>(image.height), static_cast<int>(image.width), {}};
  picture.pixels.resize(PNG_IMAGE_SIZE(image));
  png_image_finish_read(&image, nullptr, picture.pixels.data(), 0, nullptr);
  return picture;
}

class Png : public ::testing::Test {
 protected:
  ~Png() override { std::filesystem::remove(path_); }
  const std::string path_ = (std::filesystem::temp_directory_path() /
                             ("tessera_png_" + std::to_string(::getpid()) + ".png"))
                                .string();
};

TEST_F(Png, GreyGoesFromBlackToWhiteOverTheRange) {
  const std::vector<double> values{-1, 0, 0.5, 1, 2, std::numeric_limits<double>::quiet_NaN()};
  write_grey_png(path_, {2, 3}, values, std::pair(0.0, 1.0));
  const Picture picture = read_png(path_, PNG_FORMAT_GRAY);
  EXPECT_EQ(picture.h, 2);
  EXPECT_EQ(picture.w, 3);
  EXPECT_EQ(picture.pixels, (std::vector<png_byte>{0, 0, 128, 255, 255, 0}));
}

TEST_F(Png, GreyIgnoresOutliersByDefault) {
  std::vector<double> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  values[0] = -1e9;
  values[999] = 1e9;
  write_grey_png(path_, {10, 100}, values);
  EXPECT_NEAR(read_png(path_, PNG_FORMAT_GRAY).pixels[500], 128, 2);
}

TEST_F(Png, HueIsThePhaseAndBrightnessTheAmplitude) {
  std::vector<std::complex<double>> values;
  for (const double turn : {0.0, 1.0 / 3, -1.0 / 3})
    values.push_back(std::polar(1.0, 2 * std::numbers::pi * turn));
  values.push_back(0);
  write_wave_png(path_, {1, 4}, values);
  EXPECT_EQ(read_png(path_, PNG_FORMAT_RGB).pixels,
            (std::vector<png_byte>{255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0}));
}

/// 40 x 60 pixels of 25 nm: two fifths of the shorter side are 400 nm.
TEST_F(Png, ALegendStandsAroundThePicture) {
  std::vector<double> values(40 * 60);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 256);
  write_grey_png(path_, {40, 60}, values, std::pair(0.0, 255.0));
  const Picture alone = read_png(path_, PNG_FORMAT_GRAY);
  write_grey_png(path_, {40, 60}, values, std::pair(0.0, 255.0), Legend{"0", "255 rad", 25e-9});
  const Picture framed = read_png(path_, PNG_FORMAT_GRAY);
  const auto at = [&](int y, int x) {
    return framed.pixels[static_cast<std::size_t>(y * framed.w + x)];
  };
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 60; ++x)
      ASSERT_EQ(at(y, x), alone.pixels[static_cast<std::size_t>(y * 60 + x)]) << y << " " << x;

  const int bar_x = 60 + 8;
  for (int y = 0; y < 40; ++y) EXPECT_NEAR(at(y, bar_x), 255 * (1 - (y + 0.5) / 40), 1) << y;
  int scale_px = 0;
  for (int x = 0; x < framed.w; ++x) scale_px += at(40 + 7, x) == 0;
  EXPECT_EQ(scale_px * 25, 200);
  const auto black_in = [&](int top, int bottom, int left) {
    int n = 0;
    for (int y = top; y < bottom; ++y)
      for (int x = left; x < framed.w; ++x) n += at(y, x) == 0;
    return n;
  };
  EXPECT_GT(black_in(0, 20, 60 + 24), black_in(20, 40, 60 + 24)) << "7 letters over 1";
  EXPECT_EQ(black_in(20, 40, 60 + 24), 4 * 12) << "a nought is twelve dots";
  EXPECT_GT(black_in(40 + 10, framed.h, 0), 0) << "the length of the scale bar";
}

TEST_F(Png, WithoutASizeOfPixelsThereIsNoScaleBar) {
  const std::vector<std::complex<double>> values(40 * 50, {1, 0});
  write_wave_png(path_, {40, 50}, values, Legend{"-pi rad", "pi rad"});
  const Picture picture = read_png(path_, PNG_FORMAT_RGB);
  EXPECT_EQ(picture.h, 40);
  const auto colour = [&](int y) {
    const auto first = picture.pixels.begin() + 3 * (y * picture.w + 50 + 8);
    return std::vector<png_byte>(first, first + 3);
  };
  EXPECT_EQ(colour(20)[0], 255) << "red: no phase";
  EXPECT_LT(colour(0)[0], 20) << "cyan: half a turn";
  EXPECT_GT(colour(10)[1], colour(10)[2]) << "green: a quarter to a half, as in the picture";
}

TEST(PngErrors, NameThePath) {
  try {
    write_grey_png("/nowhere/at/all.png", {1, 1}, std::vector<double>{1});
    FAIL() << "nothing was thrown";
  } catch (const SystemError& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/at/all.png"), std::string::npos);
  }
}

}  // namespace
}  // namespace tessera::io
