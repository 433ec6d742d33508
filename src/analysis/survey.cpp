#include "survey.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

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

}  // namespace

Survey survey_patterns(io::ScanReader& reader, int max_patterns) {
  const io::RecordedPatterns recorded = reader.patterns();
  const Shape2 shape = recorded.shape;
  const double top = greatest(recorded.type);
  Survey survey;
  survey.greatest = top;
  survey.mean = survey.max = ImageStack<double>(1, shape);
  survey.damaged = ImageStack<std::uint8_t>(1, shape, 1);
  std::vector<float> pattern(static_cast<std::size_t>(shape.size()));
  reader.start_reading(io::PatternType::f32);
  survey.n_sampled = std::min(max_patterns, recorded.n_positions);
  const int columns = recorded.raster.empty() ? 1 : recorded.raster[1];
  ImageStack<double> n_negative(1, shape);
  ImageStack<double> n_saturated(1, shape);
  for (int i = 0; i < survey.n_sampled; ++i) {
    const auto position =
        static_cast<int>(std::int64_t{i} * recorded.n_positions / survey.n_sampled);
    reader.read_patterns(Box::at({position / columns, position % columns}, {1, 1}),
                         Box::at({0, 0}, shape), reinterpret_cast<std::byte*>(pattern.data()));
    for (std::size_t r = 0; r < pattern.size(); ++r) {
      const double value = pattern[r];
      const bool is_count = std::isfinite(value) && value >= 0 && value < top;
      if (!is_count) {
        n_negative.data()[r] += value < 0;
        n_saturated.data()[r] += value == top;
        continue;
      }
      survey.damaged.data()[r] = 0;
      survey.mean.data()[r] += value / survey.n_sampled;
      survey.max.data()[r] = std::max(survey.max.data()[r], value);
      survey.are_whole_numbers &= value == std::floor(value);
    }
  }
  for (std::size_t r = 0; r < pattern.size(); ++r) {
    if (!survey.damaged.data()[r]) {
      survey.n_negative += static_cast<std::int64_t>(n_negative.data()[r]);
      survey.n_saturated += static_cast<std::int64_t>(n_saturated.data()[r]);
    }
    survey.mean_counts += survey.mean.data()[r];
    survey.max_count = std::max(survey.max_count, survey.max.data()[r]);
  }
  return survey;
}

std::vector<Vec2> centres_of_mass(io::ScanReader& reader, int n_columns, const Box& positions,
                                  const ImageStack<double>& trusted) {
  const io::RecordedPatterns recorded = reader.patterns();
  const Shape2 shape = recorded.shape;
  const double top = greatest(recorded.type);
  std::vector<float> pattern(static_cast<std::size_t>(shape.size()));
  std::vector<Vec2> centres;
  for (int row = positions.begin.y; row < positions.end.y; ++row)
    for (int column = positions.begin.x; column < positions.end.x; ++column) {
      const Pixel place =
          recorded.raster.empty() ? Pixel{row * n_columns + column, 0} : Pixel{row, column};
      reader.read_patterns(Box::at(place, {1, 1}), Box::at({0, 0}, shape),
                           reinterpret_cast<std::byte*>(pattern.data()));
      double sum = 0;
      Vec2 moment;
      for (int y = 0; y < shape.h; ++y)
        for (int x = 0; x < shape.w; ++x) {
          const double value = pattern[static_cast<std::size_t>(y * shape.w + x)];
          const bool counts = std::isfinite(value) && value >= 0 && value < top &&
                              (trusted.n() == 0 || trusted(0, y, x) != 0);
          if (!counts) continue;
          sum += value;
          moment = moment + value * Vec2{double(y), double(x)};
        }
      centres.push_back(sum > 0 ? moment / sum : Vec2{});
    }
  return centres;
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
  double n_lit = 0;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      const double value = survey.mean(0, y, x);
      if (!is_trusted(y, x) || value <= threshold || value > 5 * threshold / lit_fraction) continue;
      sum += value;
      n_lit += 1;
      beam.centre_px = beam.centre_px + value * Vec2{double(y), double(x)};
    }
  if (sum > 0) beam.centre_px = beam.centre_px / sum;
  beam.radius_px = std::sqrt(n_lit / std::numbers::pi);
  beam.lit_share = values.empty() ? 0 : n_lit / static_cast<double>(values.size());
  return beam;
}

}  // namespace tessera::analysis
