#pragma once
/// What a scan's patterns look like, from some of them, without a deck.

#include <vector>

#include "tessera/base/image_stack.hpp"

#include "io/scan_format.hpp"

namespace tessera::analysis {

struct Survey {
  int n_sampled = 0;
  ImageStack<double> mean;  ///< (1, h, w), as recorded; only finite, not negative values count
  ImageStack<double> max;   ///< the same
  /// Pixels that hold the type's greatest value, a negative or no number in every pattern looked
  /// at.
  ImageStack<std::uint8_t> damaged;
  double greatest = 0;            ///< of the type
  std::int64_t n_negative = 0;    ///< values, in other pixels
  std::int64_t n_not_finite = 0;  ///< likewise
  std::int64_t n_saturated = 0;   ///< values that are the type's greatest, in other pixels
  double mean_counts = 0;         ///< of a pattern
  double max_count = 0;           ///< of a pixel
  bool are_whole_numbers = true;
};

/// For what is alike in all of a scan.
inline constexpr int enough_patterns = 256;

/// Reads up to `max_patterns`, spread evenly over the scan, as they were recorded.
/// @throws InputError
Survey survey_patterns(io::ScanReader& reader, int max_patterns);

/// Where the beam falls on the detector.
struct BeamOnDetector {
  Vec2 centre_px;          ///< centre of mass of what is bright
  double disc_counts = 0;  ///< half of what bright pixels have: the edge of a disc
  double radius_px = 0;    ///< of a disc as large as what has more
  double lit_share = 0;    ///< of the trusted pixels
  Box lit_box;  ///< rows and columns that hold at least a tenth as much of it as the fullest
  bool is_in_corners = false;  ///< zero frequency at [0, 0]
};

/// Whether a mask leaves out most pixels and the beam: it is of the other polarity.
bool leaves_out_the_beam(const ImageStack<double>& trusted, const Survey& survey);

/// @param trusted (1, h, w), 1 = trust; empty: every pixel
BeamOnDetector find_beam(const Survey& survey, const ImageStack<double>& trusted);

}  // namespace tessera::analysis
