// Tiles against plain loops over the whole object, on any number of ranks.

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <functional>
#include <map>
#include <numbers>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"

#include "analysis/object_picture.hpp"
#include "analysis/pictures.hpp"
#include "analysis/zoom_tiles.hpp"
#include "io/png_pixels.hpp"
#include "report/zoom.hpp"
#include "report/zoom_folder.hpp"

namespace tessera::report {
namespace {

using Complex = std::complex<double>;
using Grey = ImageStack<std::uint8_t>;
using testing::png_pixels;
using testing::world;
using testing::ZoomFolder;

constexpr double two_pi = 2 * std::numbers::pi;

/// Smooth, so that a pixel's phase is known where its ramp is; never above 0.6 rad.
double phase_rad(int y, int x) {
  return 0.35 * std::cos(0.11 * y) * std::cos(0.07 * x) + 0.25 * std::sin(0.003 * y * x / 40.0);
}

struct Scene {
  Shape2 whole;
  Vec2 ramp_per_px;  ///< turns a pixel
  int n_images = 1;
};

Complex pixel(const Scene& scene, int image, int y, int x) {
  if (y == 9 && x == 10) return std::nan("");
  const double ramp = two_pi * (scene.ramp_per_px.y * y + scene.ramp_per_px.x * x) + 0.8;
  const double share = scene.n_images == 1 ? 1 : image == 0 ? 0.75 : 0.25;
  return std::polar(1 + 0.2 * std::sin(0.05 * x + image), share * (phase_rad(y, x) + ramp));
}

/// Lit but for a margin of 3 rows above and 2 columns at the left.
void write_result(const Scene& scene, const std::string& path) {
  constexpr int window = 16;
  WaveStack object(scene.n_images, scene.whole);
  for (int i = 0; i < object.n(); ++i)
    for (int y = 0; y < object.h(); ++y)
      for (int x = 0; x < object.w(); ++x) object(i, y, x) = pixel(scene, i, y, x);
  std::vector<double> corners;
  const auto steps = [](int n, int first) {
    std::vector<int> at;
    for (int i = first; i < n - window; i += window) at.push_back(i);
    at.push_back(n - window);
    return at;
  };
  for (const int y : steps(scene.whole.h, 3))
    for (const int x : steps(scene.whole.w, 2)) corners.insert(corners.end(), {1.0 * y, 1.0 * x});
  io::File file = io::File::create(path);
  const io::Extents extents{object.n(), object.h(), object.w()};
  file.create_dataset("object", extents, io::ElementType::complex128);
  file.write_slab("object", {0, 0, 0}, extents, io::ElementType::complex128, object.data());
  file.write_doubles("probe", {window, window}, std::vector<double>(window * window, 1));
  file.write_doubles("window_corner_px", {std::ssize(corners) / 2, 2}, corners);
  file.set_attribute("/", "object_pixel_m", 20e-9);
  file.close();
}

/// What this rank's program would write alone, and with the others.
class ZoomTiles : public ::testing::Test {
 protected:
  void write(const Scene& scene) {
    world().together([&] {
      if (world().is_root()) write_result(scene, result_);
    });
    EXPECT_EQ(write_zoom_page(result_, folder_.path("zoom"), world()),
              folder_.path("zoom/index.html"));
  }
  const ZoomFolder folder_;
  const std::string result_ = folder_.path("result.h5");
};

/// The tiles of a level put together.
Grey level_of(const std::string& folder, const analysis::ZoomLevels& levels, int level) {
  Grey all(1, levels.shape(level));
  for (int v = 0; v < levels.tiles(level).h; ++v)
    for (int u = 0; u < levels.tiles(level).w; ++u) {
      const Grey tile = png_pixels(text(folder, '/', level, '/', u, '_', v, ".png"));
      const Pixel corner{256 * v, 256 * u};
      EXPECT_EQ(tile.h(), std::min(256, all.h() - corner.y)) << folder << ' ' << level;
      EXPECT_EQ(tile.w(), std::min(256, all.w() - corner.x)) << folder << ' ' << level;
      for (int y = 0; y < std::min(tile.h(), all.h() - corner.y); ++y)
        for (int x = 0; x < std::min(tile.w(), all.w() - corner.x); ++x)
          all(0, corner.y + y, corner.x + x) = tile(0, y, x);
    }
  return all;
}

template <class T>
ImageStack<T> halved(const ImageStack<T>& image) {
  ImageStack<T> half(1, {(image.h() + 1) / 2, (image.w() + 1) / 2});
  ImageStack<double> n(1, half.shape());
  for (int y = 0; y < image.h(); ++y)
    for (int x = 0; x < image.w(); ++x) {
      half(0, y / 2, x / 2) += image(0, y, x);
      n(0, y / 2, x / 2) += 1;
    }
  for (std::size_t r = 0; r < half.size(); ++r) half.data()[r] /= n.data()[r];
  return half;
}

template <class T>
void expect_grey(const Grey& shown, const ImageStack<T>& values,
                 const std::function<double(T)>& value_of, const analysis::GreyRange& range) {
  ASSERT_EQ(shown.shape(), values.shape());
  std::int64_t n_other = 0;
  for (std::size_t r = 0; r < shown.size(); ++r) {
    const double level =
        255 * (value_of(values.data()[r]) - range.least) / (range.most - range.least);
    const double off = std::abs(shown.data()[r] - std::clamp(level, 0.0, 255.0));
    if (off > 0.5 + 1e-9) ++n_other;
  }
  EXPECT_EQ(n_other, 0) << values.h() << " x " << values.w();
}

/// Every level of a picture against means over the whole.
void expect_levels(const std::string& result, const std::string& stem, std::optional<int> image) {
  const io::File file = io::File::open(result);
  const analysis::ObjectPicture whole =
      analysis::object_picture(file, file.read_waves("probe"), 1, image);
  WaveStack waves = whole.waves;
  ImageStack<double> amplitudes(1, waves.shape());
  std::ranges::transform(waves, amplitudes.begin(), [](Complex v) { return std::abs(v); });
  const analysis::ZoomLevels levels(waves.shape());
  for (int level = levels.last(); level >= 0; --level) {
    expect_grey<Complex>(level_of(stem + "_phase_files", levels, level), waves,
                         analysis::wrapped_phase_rad, whole.look.phase);
    expect_grey<double>(
        level_of(stem + "_amplitude_files", levels, level), amplitudes, [](double v) { return v; },
        whole.look.amplitude);
    waves = halved(waves);
    amplitudes = halved(amplitudes);
  }
}

TEST(ZoomLevels, HalveRoundedUp) {
  const analysis::ZoomLevels levels({513, 130});
  EXPECT_EQ(levels.last(), 10);
  EXPECT_EQ(levels.shape(10), (Shape2{513, 130}));
  EXPECT_EQ(levels.shape(9), (Shape2{257, 65}));
  EXPECT_EQ(levels.shape(0), (Shape2{1, 1}));
  EXPECT_EQ(levels.tiles(10), (Shape2{3, 1}));
  EXPECT_EQ(levels.tile(10, {2, 0}), (Box{{512, 0}, {513, 130}}));
  EXPECT_EQ(analysis::ZoomLevels({1, 1}).last(), 0);
}

TEST_F(ZoomTiles, AreMeansOfTheWholeObject) {
  write({.whole = {1203, 902}, .ramp_per_px = {0.31, -0.12}});
  if (!world().is_root()) return;
  expect_levels(result_, folder_.path("zoom/object"), {});
  // All pixels of the ordinary pictures, which have their bars beside them.
  analysis::write_pictures(result_, folder_.path("pictures"));
  const analysis::ZoomLevels levels({1200, 900});
  for (const std::string quantity : {"phase", "amplitude"}) {
    const Grey tiles =
        level_of(folder_.path("zoom/object_" + quantity + "_files"), levels, levels.last());
    const Grey ordinary = png_pixels(folder_.path("pictures/object_" + quantity + ".png"));
    int n_other = 0;
    for (int y = 0; y < tiles.h(); ++y)
      for (int x = 0; x < tiles.w(); ++x) n_other += tiles(0, y, x) != ordinary(0, y, x) ? 1 : 0;
    EXPECT_EQ(n_other, 0) << quantity;
  }
}

/// Bytes of all files below a folder.
std::map<std::string, std::string> files_below(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files[std::filesystem::relative(entry.path(), folder)] =
          testing::contents_of(entry.path().string());
  return files;
}

TEST_F(ZoomTiles, AreTheSameOnAnyNumberOfRanks) {
  const Scene scene{.whole = {1203, 902}, .ramp_per_px = {0.31, -0.12}};
  write(scene);
  const auto together = files_below(folder_.path("zoom"));
  if (!world().is_root()) return;
  write_zoom_page(result_, folder_.path("alone"), comm::Communicator(MPI_COMM_SELF));
  EXPECT_EQ(together.size(), 3 + 2 * (9 + 2 + 6 + 20u));
  EXPECT_TRUE(files_below(folder_.path("alone")) == together);
}

/// Narrower than a tile, of odd sizes, of two slices: their product and each.
TEST_F(ZoomTiles, OfSlices) {
  write({.whole = {520, 133}, .ramp_per_px = {}, .n_images = 2});
  if (!world().is_root()) return;
  expect_levels(result_, folder_.path("zoom/object"), {});
  expect_levels(result_, folder_.path("zoom/image_1"), 0);
  expect_levels(result_, folder_.path("zoom/image_2"), 1);
}

/// A ramp of nearly half a turn a pixel, which every third pixel cannot tell from another.
TEST_F(ZoomTiles, AreFreeOfARampThatTheSampleDoesNotResolve) {
  const Scene scene{.whole = {4603, 66}, .ramp_per_px = {0.44, -0.37}};
  write(scene);
  if (!world().is_root()) return;
  const io::File file = io::File::open(result_);
  const analysis::ObjectLook look = analysis::object_look(file, file.read_waves("probe"));
  const analysis::ZoomLevels levels(look.box.shape());
  const Grey shown = level_of(folder_.path("zoom/object_phase_files"), levels, levels.last());
  // On a grid of three pixels the box may begin a little before what is lit.
  const Pixel begin = look.box.begin;
  double sum = 0;
  double squares = 0;
  for (int y = 0; y < shown.h(); ++y)
    for (int x = 0; x < shown.w(); ++x) {
      const double found =
          look.phase.least + shown(0, y, x) / 255.0 * (look.phase.most - look.phase.least);
      const double off = found - phase_rad(begin.y + y, begin.x + x);
      sum += off / static_cast<double>(shown.size());
      squares += off * off / static_cast<double>(shown.size());
    }
  EXPECT_LT(std::sqrt(squares - sum * sum), 0.06);
}

}  // namespace
}  // namespace tessera::report
