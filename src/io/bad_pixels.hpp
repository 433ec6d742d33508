#pragma once
/// Pixels whose counts no light explains, told from what a scan's patterns hold.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tessera/comm/communicator.hpp"

#include "io/scan_reader.hpp"

namespace tessera::io {

/// What each pixel of a part of the detector counted in some patterns. Indices go row by row.
class PixelStatistics {
 public:
  explicit PixelStatistics(Shape2 shape);

  /// Takes what pixel `i` counted in one more pattern.
  void add(std::int64_t i, double counts);
  /// What it counted was a flash.
  void add_flash(std::int64_t i) { ++n_flashes_.data()[i]; }

  Shape2 shape() const { return n_.shape(); }
  int n(std::int64_t i) const { return n_.data()[i]; }
  int n_flashes(std::int64_t i) const { return n_flashes_.data()[i]; }
  double mean(std::int64_t i) const {
    return first_.data()[i] + sum_.data()[i] / std::max(1, n(i));
  }
  /// Of the mean; 0: the pixel never changed.
  double standard_error(std::int64_t i) const;

 private:
  ImageStack<int> n_;
  ImageStack<int> n_flashes_;
  ImageStack<double> first_;
  ImageStack<double> sum_;      ///< of the distances from the first: all 0 for what never changes
  ImageStack<double> squares_;  ///< of the same
};

/// Indices, ascending.
struct BadPixels {
  std::vector<std::int64_t> hot;
  std::vector<std::int64_t> stuck;
  std::int64_t n_flashes = 0;  ///< in other pixels, of the patterns looked at
};

/// The fewest patterns that say anything of a pixel.
inline constexpr int fewest_patterns_to_judge = 20;
/// More say little more.
inline constexpr int most_patterns_to_judge = 128;
/// So near to the zero frequency a sharp beam is not hot.
inline constexpr double sharpest_beam_px = 3;

/// *Hot*: more than five times as bright, beyond noise, as all but an eighth of the 24 pixels
/// around it, which may be hot, too. *Stuck*: the same count in every pattern, zero or another, in
/// one or two pixels side by side, or in whole rows or columns, between bright pixels that do
/// change. *Flashes* (FlashFinder): none where one count in 500 is one, for that is light.
/// @param trusted (1, h, w), 1: to be judged
/// @param in_beam (1, h, w), 1: the beam may be sharp here, which is not hot
BadPixels find_bad_pixels(const PixelStatistics& statistics,
                          const ImageStack<std::uint8_t>& trusted,
                          const ImageStack<std::uint8_t>& in_beam);

/// Finds them in up to 128 patterns, spread evenly over the scan, and takes them from
/// info.valid_pixels, binned ones with all that they are the sum of; sets info.has_flashes. Rank 0
/// reads, all receive. Collective.
/// @return on rank 0, pixels of the detector, as the file has them
/// @throws AgreedError: a pattern that cannot be read
BadPixels leave_out_bad_pixels(const ScanSource& source, const comm::Communicator& comm,
                               ScanInfo& info);

}  // namespace tessera::io
