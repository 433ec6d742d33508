#pragma once
/// Some patterns of a scan on the host, in coarser pixels, kept while all are read.

#include <vector>

#include "run/scan.hpp"

namespace tessera::run {

/// Of the near field as they are, of the far field with zero frequency in the middle.
class BinnedPatterns {
 public:
  /// @param chosen scan positions, ascending, the same on all ranks
  /// @param max_px side of what is kept
  BinnedPatterns(const Scan& scan, std::vector<int> chosen, int max_px);

  std::size_t recorded_bytes() const;  ///< of one pattern
  int bin() const { return bin_; }
  const std::vector<int>& chosen() const { return chosen_; }
  /// Of the pattern at this scan position, if it is one of them. For host code.
  void keep(int position, const std::byte* pattern);
  /// Those of all ranks: (chosen, h, w), counts. Once. Collective.
  const ImageStack<double>& gather(const comm::Communicator& comm);

 private:
  io::PatternType type_;
  Shape2 recorded_;
  Pixel middle_;    ///< of what is kept, where the first recorded pixel goes
  double ignored_;  ///< of pixels that a pattern ignores
  int bin_;
  std::vector<int> chosen_;
  ImageStack<double> patterns_;  ///< zeros where they are another rank's
};

}  // namespace tessera::run
