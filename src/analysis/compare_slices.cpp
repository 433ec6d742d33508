#include "compare_slices.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace tessera::analysis {
namespace {

WaveStack slice_of(const WaveStack& object, int slice) {
  WaveStack one(1, object.shape());
  std::copy(object.image(slice), object.image(slice + 1), one.begin());
  return one;
}

/// |g_b| of the least-squares fit slice = sum over b of g_b reference_b + constant in the region:
/// how strongly every slice of the reference shows in this one, all at once, so that references
/// that happen to be alike are not counted twice.
std::vector<double> strengths(const WaveStack& slice, const WaveStack& reference,
                              const optics::PixelSet& region) {
  const Eigen::Index n = reference.n();
  Eigen::MatrixXcd normal = Eigen::MatrixXcd::Zero(n + 1, n + 1);
  Eigen::VectorXcd right = Eigen::VectorXcd::Zero(n + 1);
  Eigen::VectorXcd here = Eigen::VectorXcd::Ones(n + 1);
  for (std::int64_t r = 0; r < region.shape().size(); ++r) {
    if (!region.data()[r]) continue;
    for (int b = 0; b < reference.n(); ++b) here[b] = reference.image(b)[r];
    normal += here.conjugate() * here.transpose();
    right += here.conjugate() * slice.data()[r];
  }
  const Eigen::VectorXcd fitted = normal.completeOrthogonalDecomposition().solve(right);
  std::vector<double> found;
  found.reserve(static_cast<std::size_t>(n));
  for (Eigen::Index b = 0; b < n; ++b) found.push_back(std::abs(fitted[b]));
  return found;
}

}  // namespace

std::vector<SliceComparison> compare_slices(const WaveStack& object, const WaveStack& reference,
                                            const WaveStack& probe,
                                            const optics::PixelSet& region) {
  std::vector<SliceComparison> slices;
  for (int s = 0; s < object.n(); ++s) {
    SliceComparison one;
    const WaveStack slice = slice_of(object, s);
    one.removed = find_ambiguity(slice, probe, slice_of(reference, s), probe, region);
    const WaveStack aligned = object_without(one.removed, slice);
    const WaveStack moved = shifted_like(one.removed, reference);
    const WaveStack target = slice_of(moved, s);
    one.difference = relative_difference(aligned, target, region);
    one.rings = ring_correlation(aligned, target, region);
    one.one_bit_fraction = resolved_fraction(one.rings, one.rings.one_bit);
    one.half_bit_fraction = resolved_fraction(one.rings, one.rings.half_bit);
    one.strengths = strengths(aligned, moved, region);
    for (int b = 0; b < object.n(); ++b)
      if (b != s) one.cross_talk = std::max(one.cross_talk, one.strengths[b]);
    slices.push_back(std::move(one));
  }
  return slices;
}

}  // namespace tessera::analysis
