// Sums over pixels, by image and over all images, against plain loops; kernels of any size.

#include <gtest/gtest.h>

#include "device/sums.hpp"

namespace tessera::device {
namespace {

constexpr Shape2 shape{13, 300};
constexpr int n_images = 5;

/// Pixel (y, x) of image i is worth weight (1 + i) (y + 100 x) in the first sum, 1 in the second.
template <int size>
struct Encoded {
  Real weight[size];
  struct Row {
    Real factor;
    int y;
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      sum[0] += factor * static_cast<Real>(y + 100 * x);
      sum[1] += 1;
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    return {weight[size - 1] * static_cast<Real>(1 + i), y};
  }
};

/// The same, some pixels at a time.
struct EncodedRun : Encoded<1> {
  struct Row {
    Encoded<1>::Row pixel;
    KOKKOS_FUNCTION void operator()(const int first, const int last, Real* sum) const {
      for (int x = first; x < last; ++x) pixel(x, sum);
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const { return {Encoded<1>::row(i, y)}; }
};

double expected(int i) {
  double sum = 0;
  for (int y = 0; y < shape.h; ++y)
    for (int x = 0; x < shape.w; ++x) sum += (1 + i) * (y + 100 * x);
  return sum;
}

template <int size>
void expect_sums_of_each_image() {
  Encoded<size> kernel{};
  kernel.weight[size - 1] = 1;
  const DeviceView<double* [2]> sums("sums", n_images);
  sum_each_image<2>(Device(), "each", n_images, shape, kernel, sums);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums);
  for (int i = 0; i < n_images; ++i) {
    EXPECT_NEAR(host(i, 0) / expected(i), 1, 1e-6) << "image " << i;
    EXPECT_EQ(host(i, 1), shape.size()) << "image " << i;
  }
}

TEST(Sums, OfEachImage) {
  expect_sums_of_each_image<1>();
}

/// Arguments that do not fit into a launch take another way to a GPU.
TEST(Sums, OfEachImageByALargeKernel) {
  expect_sums_of_each_image<300>();
}

template <class Kernel>
void expect_total(const Kernel& kernel) {
  const DeviceView<double*> scratch("scratch", 2);
  const DeviceView<double*> total("total", 2);
  for (int time = 0; time < 2; ++time)
    add_pixel_sums<2>(Device(), "all", n_images, shape, kernel, scratch, total);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), total);
  double sum = 0;
  for (int i = 0; i < n_images; ++i) sum += expected(i);
  EXPECT_NEAR(host(0) / (2 * sum), 1, 1e-6);
  EXPECT_EQ(host(1), 2 * n_images * shape.size());
}

TEST(Sums, OfAllImagesAddToTheTotal) {
  expect_total(Encoded<1>{{1}});
}

TEST(Sums, OfSomePixelsAtATime) {
  static_assert(!device_is_host || shape.w > 2 * pixels_at_a_time);
  expect_total(EncodedRun{{{1}}});
}

}  // namespace
}  // namespace tessera::device
