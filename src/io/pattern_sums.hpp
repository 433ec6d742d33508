#pragma once
/// What patterns that are ready add up to: one alone, and all of a scan pixel by pixel.

#include <cstddef>
#include <span>

#include "tessera/base/box.hpp"
#include "tessera/base/image_stack.hpp"

#include "io/scan_reader.hpp"

namespace tessera::io {

/// Centre of mass of a pattern with `counts`, pixels from the zero frequency at [0, 0]. Pixels with
/// info.saturation or more have none.
Vec2 centre_of(const ScanInfo& info, const std::byte* pattern, double counts);

/// Sums of PatternTotals.
struct PatternSums {
  explicit PatternSums(Shape2 pattern);
  /// Adds `patterns`, by up to n_threads; the order of sums is theirs, however many there are.
  void add(const ScanInfo& info, std::span<const std::byte* const> patterns, int n_threads);

  ImageStack<double> counts;
  ImageStack<double> roots;
  ImageStack<double> n_ignored;
};

}  // namespace tessera::io
