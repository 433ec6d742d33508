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

/// Rows where the column `x` is black.
std::vector<int> black_rows(const Picture& picture, int x) {
  std::vector<int> rows;
  for (int y = 0; y < picture.h; ++y)
    if (picture.pixels[static_cast<std::size_t>(y) * picture.w + x] == 0) rows.push_back(y);
  return rows;
}

TEST_F(Png, ACurveThatFallsTenfoldEachStepIsAStraightLine) {
  write_curve_png(path_, std::vector<double>{1, 0.1, 0.01, 0.001, 0.0001});
  const Picture picture = read_png(path_, PNG_FORMAT_GRAY);
  const std::vector<int> quarter = black_rows(picture, 48 + 580 / 4);
  const std::vector<int> half = black_rows(picture, 48 + 580 / 2);
  EXPECT_EQ(quarter.size(), 1u);
  EXPECT_EQ(half.size(), 1u);
  EXPECT_NEAR(quarter.at(0), 12 + 368 / 4, 1);
  EXPECT_NEAR(half.at(0), 12 + 368 / 2, 1);
  EXPECT_FALSE(black_rows(picture, 6).empty()) << "no labels";
}

TEST_F(Png, CurvesOfNothingOneValueOrZerosAreStillPictures) {
  for (const std::vector<double>& values : {std::vector<double>{}, {0.5}, {0, 0}, {NAN, 2}}) {
    write_curve_png(path_, values);
    EXPECT_EQ(read_png(path_, PNG_FORMAT_GRAY).w, 640);
  }
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
