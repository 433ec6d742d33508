#include "pattern_sums.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/thread.hpp"
#include "framing.hpp"
#include "stored_patterns.hpp"

namespace tessera::io {
namespace {

/// Column by column, so that no sum waits for the one before.
template <class T>
Vec2 moment_of(const T* values, Shape2 shape, double saturation) {
  std::vector<double> sum(static_cast<std::size_t>(shape.w));
  std::vector<double> moment_y(static_cast<std::size_t>(shape.w));
  for (int y = 0; y < shape.h; ++y, values += shape.w) {
    const double from_zero = frequency_index(y, shape.h);
    for (int x = 0; x < shape.w; ++x) {
      const auto value = static_cast<double>(values[x]);
      const double counts = value < saturation ? value : 0;
      sum[static_cast<std::size_t>(x)] += counts;
      moment_y[static_cast<std::size_t>(x)] += counts * from_zero;
    }
  }
  Vec2 moment;
  for (int x = 0; x < shape.w; ++x) {
    moment.x += sum[static_cast<std::size_t>(x)] * frequency_index(x, shape.w);
    moment.y += moment_y[static_cast<std::size_t>(x)];
  }
  return moment;
}

template <class T>
void add_pixels(const T* values, std::int64_t n, double saturation, double* counts, double* roots,
                double* n_ignored) {
  for (std::int64_t i = 0; i < n; ++i) {
    const auto value = static_cast<double>(values[i]);
    const double added = value < saturation ? value : 0;
    counts[i] += added;
    roots[i] += std::sqrt(added);
    n_ignored[i] += value < saturation ? 0 : 1;
  }
}

}  // namespace

Vec2 centre_of(const ScanInfo& info, const std::byte* pattern, double counts) {
  Vec2 moment;
  with_type(info.type, [&](auto zero) {
    moment =
        moment_of(reinterpret_cast<const decltype(zero)*>(pattern), info.pattern, info.saturation);
  });
  return {moment.y / counts, moment.x / counts};
}

PatternSums::PatternSums(Shape2 pattern)
    : counts(1, pattern), roots(1, pattern), n_ignored(1, pattern) {}

void PatternSums::add(const ScanInfo& info, std::span<const std::byte* const> patterns,
                      int n_threads) {
  share_parts(info.pattern.size(), n_threads, [&](std::int64_t first, std::int64_t last) {
    with_type(info.type, [&](auto zero) {
      using T = decltype(zero);
      for (const std::byte* pattern : patterns)
        add_pixels(reinterpret_cast<const T*>(pattern) + first, last - first, info.saturation,
                   counts.data() + first, roots.data() + first, n_ignored.data() + first);
    });
  });
}

}  // namespace tessera::io
