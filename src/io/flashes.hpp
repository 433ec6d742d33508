#pragma once
/// Counts of single pixels in single patterns that no light explains: a cosmic ray, an X-ray in a
/// camera for electrons.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "tessera/base/box.hpp"
#include "tessera/base/image_stack.hpp"

namespace tessera::io {

/// Finds *flashes*: more than six times as bright as all but an eighth of the 24 pixels around it
/// and the mean pixel of the pattern that counted anything together. That pixel has a quantum of
/// light at least, so that a lone photon or electron is no flash, however many counts it makes.
class FlashFinder {
 public:
  /// @param trusted (1, h, w), 1: valid in every pattern
  /// @param in_beam (1, h, w), 1: the beam may be sharp here, which is no flash
  FlashFinder(ImageStack<std::uint8_t> trusted, ImageStack<std::uint8_t> in_beam)
      : shape_(trusted.shape()), trusted_(std::move(trusted)), in_beam_(std::move(in_beam)) {}

  /// visit(i) for each flash of a pattern, row by row.
  /// @param mask the pattern's own, 1 = trust; null: none
  /// @param saturation so many counts are no flash
  template <class T, class Visit>
  void for_each(const T* counts, const std::uint8_t* mask, double saturation,
                const Visit& visit) const {
    for_each_in(0, shape_.size(), least(counts, mask), counts, mask, saturation, visit);
  }

  /// So much a flash has at least, by the mean of the pattern.
  template <class T>
  double least(const T* counts, const std::uint8_t* mask) const {
    return factor * mean_of_counting(counts, mask);
  }

  /// The same of the pixels [first, last). @param least of this pattern
  template <class T, class Visit>
  void for_each_in(std::int64_t first, std::int64_t last, double least, const T* counts,
                   const std::uint8_t* mask, double saturation, const Visit& visit) const {
    for (std::int64_t i = first; i < last; ++i) {
      const auto here = static_cast<double>(counts[i]);
      if (here > least && here < saturation && is_trusted(mask, i) && !in_beam_.data()[i] &&
          stands_out(counts, mask, i, (here - least) / factor))
        visit(i);
    }
  }

 private:
  static constexpr double factor = 6;

  bool is_trusted(const std::uint8_t* mask, std::int64_t i) const {
    return trusted_.data()[i] && (!mask || mask[i]);
  }

  /// Not a number counts nothing.
  template <class T>
  double mean_of_counting(const T* counts, const std::uint8_t* mask) const {
    double sum = 0;
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < shape_.size(); ++i) {
      const bool counting = is_trusted(mask, i) && counts[i] > 0;
      sum += counting ? static_cast<double>(counts[i]) : 0;
      n += counting;
    }
    return n > 0 ? sum / static_cast<double>(n) : 0;
  }

  /// Not more than an eighth of what is around it is brighter than `level`.
  template <class T>
  bool stands_out(const T* counts, const std::uint8_t* mask, std::int64_t i, double level) const {
    constexpr int reach = 2;
    constexpr int fewest = 8;
    const Pixel here{static_cast<int>(i / shape_.w), static_cast<int>(i % shape_.w)};
    const Box around = intersection(grown(Box::at(here, {1, 1}), reach), Box::at({}, shape_));
    int n = 0;
    int n_bright = 0;
    for (int y = around.begin.y; y < around.end.y; ++y)
      for (int x = around.begin.x; x < around.end.x; ++x) {
        const std::int64_t j = std::int64_t{y} * shape_.w + x;
        if (j == i || !is_trusted(mask, j)) continue;
        ++n;
        n_bright += static_cast<double>(counts[j]) >= level;
      }
    return n >= fewest && n_bright <= n / 8;
  }

  Shape2 shape_;
  ImageStack<std::uint8_t> trusted_;
  ImageStack<std::uint8_t> in_beam_;
};

}  // namespace tessera::io
