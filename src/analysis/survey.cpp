#include "survey.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "io/scan_chunks.hpp"

namespace tessera::analysis {
namespace {

double greatest(io::PatternType type) {
  switch (type) {
    case io::PatternType::u8:
      return std::numeric_limits<std::uint8_t>::max();
    case io::PatternType::u16:
      return std::numeric_limits<std::uint16_t>::max();
    case io::PatternType::u32:
      return std::numeric_limits<std::uint32_t>::max();
    case io::PatternType::f32:
      break;
  }
  return std::numeric_limits<double>::infinity();
}

/// Values above this share of the bright ones belong to the beam.
constexpr double lit_fraction = 0.2;

/// One in a thousand pixels is brighter: a hot pixel is not the beam.
double brightness(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(
                                       std::min(values.size() - 1, values.size() * 999 / 1000));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// From the first to behind the last that holds a tenth of what the fullest does.
std::pair<int, int> well_filled(const std::vector<int>& counts) {
  const auto is_filled = [least = 0.1 * *std::ranges::max_element(counts)](int n) {
    return n > 0 && n >= least;
  };
  const auto first = std::ranges::find_if(counts, is_filled);
  if (first == counts.end()) return {0, 0};
  const auto last = std::find_if(counts.rbegin(), counts.rend(), is_filled).base();
  return {static_cast<int>(first - counts.begin()), static_cast<int>(last - counts.begin())};
}

}  // namespace

Survey survey_patterns(io::ScanReader& reader, int max_patterns) {
  const io::RecordedPatterns recorded = reader.patterns();
  const Shape2 shape = recorded.shape;
  const double top = greatest(recorded.type);
  Survey survey;
  survey.greatest = top;
  survey.mean = survey.max = ImageStack<double>(1, shape);
  survey.damaged = ImageStack<std::uint8_t>(1, shape, 1);
  const auto n_pixels = static_cast<std::size_t>(shape.size());
  reader.start_reading(io::PatternType::f32);
  const io::ScanChunks chunks{io::scan_shape(recorded.n_positions, recorded.raster),
                              recorded.positions_per_chunk};
  const std::vector<Box> groups = chunks.spread(max_patterns, 16);
  for (const Box& group : groups) survey.n_sampled += static_cast<int>(group.area());
  ImageStack<double> n_negative(1, shape);
  ImageStack<double> n_saturated(1, shape);
  ImageStack<double> n_not_finite(1, shape);
  std::vector<float> patterns;
  for (const Box& group : groups) {
    patterns.resize(static_cast<std::size_t>(group.area()) * n_pixels);
    reader.read_patterns(group, Box::at({0, 0}, shape),
                         reinterpret_cast<std::byte*>(patterns.data()));
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const std::size_t r = i % n_pixels;
      const double value = patterns[i];
      const bool is_count = std::isfinite(value) && value >= 0 && value < top;
      if (!is_count) {
        n_negative.data()[r] += value < 0;
        n_saturated.data()[r] += value == top && std::isfinite(top);
        n_not_finite.data()[r] += !std::isfinite(value);
        continue;
      }
      survey.damaged.data()[r] = 0;
      survey.mean.data()[r] += value / survey.n_sampled;
      survey.max.data()[r] = std::max(survey.max.data()[r], value);
      survey.are_whole_numbers &= value == std::floor(value);
    }
  }
  for (std::size_t r = 0; r < n_pixels; ++r) {
    if (!survey.damaged.data()[r]) {
      survey.n_negative += static_cast<std::int64_t>(n_negative.data()[r]);
      survey.n_saturated += static_cast<std::int64_t>(n_saturated.data()[r]);
      survey.n_not_finite += static_cast<std::int64_t>(n_not_finite.data()[r]);
    }
    survey.mean_counts += survey.mean.data()[r];
    survey.max_count = std::max(survey.max_count, survey.max.data()[r]);
  }
  return survey;
}

bool leaves_out_the_beam(const ImageStack<double>& trusted, const Survey& survey) {
  if (trusted.n() == 0) return false;
  std::int64_t n_trusted = 0;
  double counts_trusted = 0;
  for (std::size_t i = 0; i < trusted.size(); ++i) {
    if (trusted.data()[i] == 0) continue;
    ++n_trusted;
    counts_trusted += survey.mean.data()[i];
  }
  return 2 * n_trusted <= std::ssize(survey.mean) && counts_trusted <= 0.5 * survey.mean_counts;
}

BeamOnDetector find_beam(const Survey& survey, const ImageStack<double>& trusted) {
  const int h = survey.mean.h();
  const int w = survey.mean.w();
  const auto is_trusted = [&](int y, int x) {
    return survey.damaged(0, y, x) == 0 && (trusted.n() == 0 || trusted(0, y, x) != 0);
  };
  std::vector<double> values;
  double centred = 0;
  double cornered = 0;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      if (!is_trusted(y, x)) continue;
      values.push_back(survey.mean(0, y, x));
      const double from_centre = std::hypot((y - h / 2.0) / h, (x - w / 2.0) / w);
      const double from_corner =
          std::hypot(std::min(y, h - y) / double(h), std::min(x, w - x) / double(w));
      if (from_centre < 0.125) centred += survey.mean(0, y, x);
      if (from_corner < 0.125) cornered += survey.mean(0, y, x);
    }
  const double threshold = lit_fraction * brightness(values);
  BeamOnDetector beam;
  beam.is_in_corners = cornered > 2 * centred;
  double sum = 0;
  std::vector<double> lit;
  std::vector<int> in_row(static_cast<std::size_t>(h));
  std::vector<int> in_column(static_cast<std::size_t>(w));
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      const double value = survey.mean(0, y, x);
      if (!is_trusted(y, x) || value <= threshold || value > 5 * threshold / lit_fraction) continue;
      sum += value;
      lit.push_back(value);
      ++in_row[static_cast<std::size_t>(y)];
      ++in_column[static_cast<std::size_t>(x)];
      beam.centre_px = beam.centre_px + value * Vec2{double(y), double(x)};
    }
  if (lit.empty()) return beam;
  beam.centre_px = beam.centre_px / sum;
  const auto [top, bottom] = well_filled(in_row);
  const auto [left, right] = well_filled(in_column);
  beam.lit_box = {{top, left}, {bottom, right}};
  const auto middle = lit.begin() + std::ssize(lit) / 2;
  std::ranges::nth_element(lit, middle);
  beam.disc_counts = *middle / 2;
  const auto n_in_disc =
      std::ranges::count_if(values, [&](double value) { return value >= beam.disc_counts; });
  beam.radius_px = std::sqrt(static_cast<double>(n_in_disc) / std::numbers::pi);
  beam.lit_share = static_cast<double>(lit.size()) / static_cast<double>(values.size());
  return beam;
}

}  // namespace tessera::analysis
