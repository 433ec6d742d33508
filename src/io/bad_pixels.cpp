#include "io/bad_pixels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <span>

#include "decoding_threads.hpp"
#include "flashes.hpp"
#include "framing.hpp"
#include "recorded_pixels.hpp"
#include "scan_chunks.hpp"
#include "scan_format.hpp"
#include "stored_patterns.hpp"

namespace tessera::io {

PixelStatistics::PixelStatistics(Shape2 shape)
    : n_(1, shape), n_flashes_(1, shape), first_(1, shape), sum_(1, shape), squares_(1, shape) {}

void PixelStatistics::add(std::int64_t i, double counts) {
  if (n_.data()[i]++ == 0) first_.data()[i] = counts;
  const double distance = counts - first_.data()[i];
  sum_.data()[i] += distance;
  squares_.data()[i] += distance * distance;
}

double PixelStatistics::standard_error(std::int64_t i) const {
  const double patterns = std::max(1, n(i));
  const double squares = squares_.data()[i] - sum_.data()[i] * sum_.data()[i] / patterns;
  return std::sqrt(std::max(0.0, squares) / std::max(1.0, patterns * (patterns - 1)));
}

namespace {

class Judge {
 public:
  Judge(const PixelStatistics& statistics, const ImageStack<std::uint8_t>& trusted)
      : statistics_(statistics), shape_(statistics.shape()), kind_(1, shape_, Kind::unknown) {
    for (std::int64_t i = 0; i < shape_.size(); ++i) {
      if (!trusted.data()[i] || statistics.n(i) < fewest_patterns_to_judge) continue;
      kind_.data()[i] = statistics.standard_error(i) > 0 ? Kind::live : Kind::still;
    }
  }

  /// Which are unknown from then on.
  std::vector<std::int64_t> hot(const ImageStack<std::uint8_t>& in_beam) {
    std::vector<std::int64_t> found;
    for (std::int64_t i = 0; i < shape_.size(); ++i)
      if (kind(i) != Kind::unknown && !in_beam.data()[i] && is_hot(i)) found.push_back(i);
    for (const std::int64_t i : found) kind_.data()[i] = Kind::unknown;
    return found;
  }

  std::vector<std::int64_t> stuck() const {
    ImageStack<std::uint8_t> is_stuck(1, shape_);
    find_along(shape_.h, shape_.w, [&](int y, int x) { return index(y, x); }, is_stuck);
    find_along(shape_.w, shape_.h, [&](int x, int y) { return index(y, x); }, is_stuck);
    std::vector<std::int64_t> found;
    for (std::int64_t i = 0; i < shape_.size(); ++i)
      if (is_stuck.data()[i]) found.push_back(i);
    return found;
  }

 private:
  enum class Kind : std::uint8_t { unknown, still, live };

  Kind kind(std::int64_t i) const { return kind_.data()[i]; }
  std::int64_t index(int y, int x) const { return std::int64_t{y} * shape_.w + x; }

  bool is_hot(std::int64_t i) const {
    constexpr int reach = 2;
    constexpr double factor = 5;
    constexpr double noise = 6;
    const Pixel here{static_cast<int>(i / shape_.w), static_cast<int>(i % shape_.w)};
    const Box around = intersection(grown(Box::at(here, {1, 1}), reach), Box::at({}, shape_));
    std::array<double, 24> means{};
    std::size_t n = 0;
    for (int y = around.begin.y; y < around.end.y; ++y)
      for (int x = around.begin.x; x < around.end.x; ++x)
        if (const std::int64_t j = index(y, x); j != i && kind(j) != Kind::unknown)
          means[n++] = statistics_.mean(j);
    constexpr std::size_t fewest = 8;
    if (n < fewest) return false;
    const auto end = means.begin() + static_cast<std::ptrdiff_t>(n);
    const auto brightest = means.begin() + static_cast<std::ptrdiff_t>(n / 8);  // but an eighth
    std::nth_element(means.begin(), brightest, end, std::greater<>());
    return statistics_.mean(i) - factor * *brightest > noise * statistics_.standard_error(i);
  }

  bool is_bright(std::int64_t i) const {
    constexpr double noise = 10;
    return statistics_.mean(i) > noise * statistics_.standard_error(i);
  }

  /// Of lines of pixels at(line, along), and of those that cross them: the latter are stuck as a
  /// whole if one of their pixels is, where all of them are still.
  template <class At>
  void find_along(int n_lines, int n_along, const At& at,
                  ImageStack<std::uint8_t>& is_stuck) const {
    constexpr std::size_t most_side_by_side = 2;
    const std::vector<bool> is_still = still_crossings(n_lines, n_along, at);
    std::vector<bool> is_crossing_stuck(is_still.size());
    for (int line = 0; line < n_lines; ++line)
      for_each_gap(
          n_along, [&](int along) { return at(line, along); },
          [&](const std::vector<int>& gap) {
            for (const int along : gap) {
              if (is_still[static_cast<std::size_t>(along)])
                is_crossing_stuck[static_cast<std::size_t>(along)] = true;
              else if (gap.size() <= most_side_by_side)
                is_stuck.data()[at(line, along)] = 1;
            }
          });
    for (int along = 0; along < n_along; ++along)
      for (int line = 0; is_crossing_stuck[static_cast<std::size_t>(along)] && line < n_lines;
           ++line)
        if (kind(at(line, along)) == Kind::still) is_stuck.data()[at(line, along)] = 1;
  }

  /// By place along the lines: half or more of the pixels there are still, and none is live.
  template <class At>
  std::vector<bool> still_crossings(int n_lines, int n_along, const At& at) const {
    std::vector<bool> is_still(static_cast<std::size_t>(n_along));
    for (int along = 0; along < n_along; ++along) {
      int n_still = 0;
      int n_live = 0;
      for (int line = 0; line < n_lines; ++line) {
        n_still += kind(at(line, along)) == Kind::still;
        n_live += kind(at(line, along)) == Kind::live;
      }
      is_still[static_cast<std::size_t>(along)] = n_live == 0 && 2 * n_still >= n_lines;
    }
    return is_still;
  }

  /// visit(gap): the still pixels between two bright ones of a line.
  template <class At, class Visit>
  void for_each_gap(int n_along, const At& at, const Visit& visit) const {
    std::vector<int> gap;
    bool is_bright_before = false;
    for (int along = 0; along < n_along; ++along) {
      const std::int64_t here = at(along);
      if (kind(here) == Kind::still) gap.push_back(along);
      if (kind(here) != Kind::live) continue;
      const bool is_bright_here = is_bright(here);
      if (!gap.empty() && is_bright_before && is_bright_here) visit(gap);
      gap.clear();
      is_bright_before = is_bright_here;
    }
  }

  const PixelStatistics& statistics_;
  Shape2 shape_;
  ImageStack<Kind> kind_;
};

/// Some patterns of T, one after another, and their masks.
template <class T>
struct Patterns {
  std::vector<T> counts;
  std::vector<std::uint8_t> masks;
};

/// By several threads, each of which has some of the pixels: the answer does not depend on how many
/// there are.
template <class T>
void look_at(const Patterns<T>& patterns, double saturation, const FlashFinder& flashes,
             PixelStatistics& statistics) {
  const std::int64_t n_pixels = statistics.shape().size();
  const auto n_patterns = std::ssize(patterns.counts) / n_pixels;
  const int n_threads = decoding_threads(patterns.counts.size() * sizeof(T));
  std::vector<double> least(static_cast<std::size_t>(n_patterns));
  share_work(least.size(), static_cast<std::size_t>(n_threads), [&](std::size_t, std::size_t p) {
    const auto begin = static_cast<std::int64_t>(p) * n_pixels;
    least[p] = flashes.least(patterns.counts.data() + begin, patterns.masks.data() + begin);
  });
  share_parts(n_pixels, n_threads, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t p = 0; p < n_patterns; ++p) {
      const T* const of_pattern = patterns.counts.data() + p * n_pixels;
      const std::uint8_t* const mask = patterns.masks.data() + p * n_pixels;
      for (std::int64_t i = first; i < last; ++i) {
        const auto counts = static_cast<double>(of_pattern[i]);
        if (mask[i] && counts >= 0 && counts < saturation)  // no NaN
          statistics.add(i, counts);
      }
      flashes.for_each_in(first, last, least[static_cast<std::size_t>(p)], of_pattern, mask,
                          saturation, [&](std::int64_t i) { statistics.add_flash(i); });
    }
  });
}

/// By this rank alone.
/// @tparam T that of info.type
template <class T>
PixelStatistics look_at_some(const ScanSource& source, const ScanInfo& info, const Box& part,
                             const FlashFinder& flashes) {
  constexpr std::size_t bytes_at_once = 4 << 20;
  const std::unique_ptr<ScanReader> file = info.format->open(source, nullptr);
  file->start_reading(info.type);
  const auto n_pixels = static_cast<std::size_t>(part.area());
  PixelStatistics statistics(part.shape());
  Patterns<T> patterns;
  const ScanChunks chunks{scan_shape(info.n_positions, info.raster), info.positions_per_chunk};
  const double saturation = std::min(source.saturation_counts, info.saturation);
  const auto look = [&] {
    look_at(patterns, saturation, flashes, statistics);
    patterns.counts.clear();
    patterns.masks.clear();
  };
  for (const Box& positions : chunks.spread(most_patterns_to_judge, 4)) {
    const std::size_t begin = patterns.counts.size();
    patterns.counts.resize(begin + static_cast<std::size_t>(positions.area()) * n_pixels);
    file->read_patterns(positions, part,
                        reinterpret_cast<std::byte*>(patterns.counts.data() + begin));
    patterns.masks.resize(patterns.counts.size(), 1);
    if (info.has_own_masks) file->read_masks(positions, part, patterns.masks.data() + begin);
    if (patterns.counts.size() * sizeof(T) >= bytes_at_once) look();
  }
  look();
  return statistics;
}

/// Finds them and takes them from info.valid_pixels; by this rank alone.
BadPixels leave_out(const ScanSource& source, ScanInfo& info) {
  const Framing framing(info.frame, zero_frequency(source));
  const Box& part = framing.needed();
  const RecordedPixels recorded(framing, info, source.in_near_field);
  PixelStatistics statistics(part.shape());
  with_type(info.type, [&](auto zero) {
    const FlashFinder flashes(recorded.trusted, recorded.in_beam);
    statistics = look_at_some<decltype(zero)>(source, info, part, flashes);
  });
  BadPixels bad = find_bad_pixels(statistics, recorded.trusted, recorded.in_beam);
  for (std::vector<std::int64_t>* pixels : {&bad.hot, &bad.stuck})
    for (std::int64_t& i : *pixels) {
      info.valid_pixels.data()[recorded.pixel[static_cast<std::size_t>(i)]] = 0;
      i = (part.begin.y + i / part.width()) * info.frame.stored().w + part.begin.x +
          i % part.width();
    }
  info.has_flashes = bad.n_flashes > 0;
  if (info.has_flashes) info.saturation = max_count(info.type);
  return bad;
}

/// Not in hot pixels, and none where they are as common as light.
std::int64_t flashes_elsewhere(const PixelStatistics& statistics, const BadPixels& bad) {
  constexpr double most_of_pixels = 2e-3;
  std::int64_t n = 0;
  std::int64_t n_seen = 0;
  for (std::int64_t i = 0; i < statistics.shape().size(); ++i) {
    n_seen += statistics.n(i);
    if (!std::ranges::binary_search(bad.hot, i)) n += statistics.n_flashes(i);
  }
  return static_cast<double>(n) <= most_of_pixels * static_cast<double>(n_seen) ? n : 0;
}

}  // namespace

BadPixels find_bad_pixels(const PixelStatistics& statistics,
                          const ImageStack<std::uint8_t>& trusted,
                          const ImageStack<std::uint8_t>& in_beam) {
  Judge judge(statistics, trusted);
  BadPixels bad;
  bad.hot = judge.hot(in_beam);
  bad.stuck = judge.stuck();
  bad.n_flashes = flashes_elsewhere(statistics, bad);
  return bad;
}

BadPixels leave_out_bad_pixels(const ScanSource& source, const comm::Communicator& comm,
                               ScanInfo& info) {
  BadPixels bad;
  comm.together([&] {
    if (comm.is_root() && info.n_positions >= fewest_patterns_to_judge)
      bad = leave_out(source, info);
  });
  comm.broadcast(std::span(info.valid_pixels.data(), info.valid_pixels.size()));
  comm.broadcast(std::span(&info.has_flashes, 1));
  comm.broadcast(std::span(&info.saturation, 1));
  return bad;
}

}  // namespace tessera::io
