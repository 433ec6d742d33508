#include "raster_columns.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::analysis {
namespace {

constexpr int least_columns = 4;
/// Above what it is on both sides; of noise it is 1 / sqrt(patterns).
constexpr double least_prominence = 0.1;

/// Of one quantity with itself, `lag` patterns later: -1 to 1.
double correlation(const std::vector<double>& values, int lag) {
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  double product = 0;
  double squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += (values[i] - mean) * (values[i] - mean);
    if (i >= static_cast<std::size_t>(lag))
      product += (values[i] - mean) * (values[i - static_cast<std::size_t>(lag)] - mean);
  }
  const auto n = static_cast<double>(values.size());
  return squares > 0 && lag < n ? product / squares * n / (n - lag) : 0;
}

}  // namespace

std::optional<int> find_raster_columns(const RasterSample& line, int n_positions) {
  std::array<std::vector<double>, 3> quantities;
  for (std::size_t i = 0; i < line.counts.size(); ++i) {
    quantities[0].push_back(line.counts[i]);
    quantities[1].push_back(line.centres[i].y);
    quantities[2].push_back(line.centres[i].x);
  }
  const auto alike = [&](int lag) {
    double sum = 0;
    for (const auto& values : quantities) sum += correlation(values, lag) / 3;
    return sum;
  };
  const int longest = static_cast<int>(line.counts.size()) / 3;
  std::optional<int> best;
  double most = least_prominence;
  for (int columns = least_columns; columns <= std::min(longest, n_positions / 2); ++columns) {
    if (n_positions % columns != 0) continue;
    // Far enough not to be alike as neighbours are.
    const int aside = std::max(2, columns / 4);
    const double prominence =
        alike(columns) - std::max(alike(columns - aside), alike(columns + aside));
    if (prominence <= 1.1 * most) continue;  // twice a row is nearly as much alike
    most = prominence;
    best = columns;
  }
  return best;
}

}  // namespace tessera::analysis
