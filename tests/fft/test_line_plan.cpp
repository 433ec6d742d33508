#include <cmath>

#include <gtest/gtest.h>

#include "fft/line_plan.hpp"
#include "scaled_waves.hpp"
#include "support/small_scan.hpp"

namespace tessera::fft {
namespace {

using testing::on_host;
using testing::relative_difference;

TEST(LinePlans, OfColumnsAndOfRowsMakeTheTransformOfAnImage) {
  for (const Shape2 shape : {Shape2{16, 16}, Shape2{9, 15}, Shape2{7, 12}}) {
    const LinePlan columns(shape, Along::y, Planning::measured);
    const LinePlan rows(shape, Along::x, Planning::reproducible);
    const double scale = 1 / std::sqrt(static_cast<double>(shape.size()));
    const WaveStack waves = testing::random_waves(3, shape, 7);
    const WaveStack expected = testing::dft(waves, -1);
    const auto view = testing::on_device(waves);
    columns.forward({}, view.data(), 3);
    EXPECT_GT(relative_difference(scaled(on_host(view), scale), expected), 0.1);
    rows.forward({}, view.data(), 3);
    EXPECT_LT(relative_difference(scaled(on_host(view), scale), expected), testing::rounding);
    rows.inverse({}, view.data(), 3);
    columns.inverse({}, view.data(), 3);
    EXPECT_LT(relative_difference(scaled(on_host(view), scale * scale), waves), testing::rounding);
  }
}

}  // namespace
}  // namespace tessera::fft
