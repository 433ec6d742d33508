#include "run/dark_pixels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tessera::run {
namespace {

double darkest_part(const io::ScanInfo& info, const ImageStack<double>& mean) {
  constexpr int n_parts = 8;
  const Shape2 part{std::max(1, info.pattern.h / n_parts), std::max(1, info.pattern.w / n_parts)};
  double darkest = std::numeric_limits<double>::infinity();
  for (int top = 0; top + part.h <= info.pattern.h; top += part.h)
    for (int left = 0; left + part.w <= info.pattern.w; left += part.w) {
      double counts = 0;
      int n_trusted = 0;
      for (int y = top; y < top + part.h; ++y)
        for (int x = left; x < left + part.w; ++x) {
          if (info.valid_pixels(0, y, x) == 0) continue;
          counts += mean(0, y, x);
          ++n_trusted;
        }
      if (2 * n_trusted >= part.size()) darkest = std::min(darkest, counts / n_trusted);
    }
  return darkest;
}

/// Mean of sqrt(n) where n is Poisson's, of mean `mu`.
double mean_root(double mu) {
  constexpr double many = 20;
  if (mu > many) return std::sqrt(mu) * (1 - 1 / (8 * mu) - 7 / (128 * mu * mu));
  const double last = mu + 10 * std::sqrt(mu) + 10;
  double probability = std::exp(-mu);
  double mean = 0;
  for (int n = 1; n < last; ++n) {
    probability *= mu / n;
    mean += probability * std::sqrt(n);
  }
  return mean;
}

}  // namespace

/// n - sqrt(n) is 0 at 0 and 1: of few counts its mean is (1 - 1/sqrt(2)) times that of I^2.
DarkPixels find_dark_pixels(const io::PatternTotals& totals, const io::ScanInfo& info,
                            const ImageStack<double>& mean, int n_fitted) {
  std::vector<std::size_t> pixels;
  for (std::size_t i = 0; i < mean.size(); ++i)
    if (info.valid_pixels.data()[i] != 0) pixels.push_back(i);
  const auto n_dark = static_cast<std::ptrdiff_t>(3 * pixels.size() / 4);
  const auto brightness = [&](std::size_t i) { return mean.data()[i]; };
  std::ranges::nth_element(pixels, pixels.begin() + n_dark, {}, brightness);
  double seen = 0;
  double steady = 0;
  for (auto i = pixels.begin(); i != pixels.begin() + n_dark; ++i) {
    const double n = std::max(1.0, n_fitted - totals.n_ignored.data()[*i]);
    seen += n * brightness(*i) - totals.roots.data()[*i];
    steady += n * (brightness(*i) - mean_root(brightness(*i)));
  }
  return {darkest_part(info, mean), steady > 0 ? seen / steady : 0};
}

double poisson_error(const ImageStack<double>& mean) {
  double variance = 0;
  double counts = 0;
  for (const double mu : mean) {
    const double root = mean_root(mu);
    variance += mu - root * root;
    counts += mu;
  }
  return counts > 0 ? variance / counts : 0;
}

}  // namespace tessera::run
