#include "compare_slices.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "least_squares.hpp"

namespace tessera::analysis {
namespace {

/// |g_b| of the least-squares fit slice = sum over b of g_b reference_b + constant in the region:
/// how strongly every slice of the reference shows in this one, all at once, so that references
/// that happen to be alike are not counted twice.
std::vector<double> strengths(const ObjectPair& pair, int slice) {
  const Eigen::Index n = pair.n_images();
  Eigen::MatrixXcd normal = Eigen::MatrixXcd::Zero(n + 1, n + 1);
  Eigen::VectorXcd right = Eigen::VectorXcd::Zero(n + 1);
  pair.for_each([&](const PairBlock& block) {
    Eigen::VectorXcd here = Eigen::VectorXcd::Ones(n + 1);
    for (std::int64_t r = 0; r < block.box.area(); ++r) {
      if (!block.counted.data()[r]) continue;
      for (int b = 0; b < block.b.n(); ++b) here[b] = block.b.image(b)[r];
      normal += here.conjugate() * here.transpose();
      right += here.conjugate() * block.a.image(slice)[r];
    }
  });
  const auto sum = [&](auto& values) {
    pair.comm().sum(std::span(reinterpret_cast<double*>(values.data()),
                              2 * static_cast<std::size_t>(values.size())));
  };
  sum(normal);
  sum(right);
  const Eigen::VectorXcd fitted = complex_least_squares(normal, right);
  std::vector<double> found;
  found.reserve(static_cast<std::size_t>(n));
  for (Eigen::Index b = 0; b < n; ++b) found.push_back(std::abs(fitted[b]));
  return found;
}

}  // namespace

std::vector<SliceComparison> compare_slices(const ObjectPair& pair, const WaveStack& probe) {
  std::vector<SliceComparison> slices;
  for (int s = 0; s < pair.n_images(); ++s) {
    SliceComparison one;
    one.removed = find_ambiguity(pair.image(s), probe, probe);
    const ObjectPair aligned = pair.without(one.removed);
    one.difference = relative_difference(aligned.image(s));
    one.rings = ring_correlation(aligned.image(s));
    one.one_bit_fraction = resolved_fraction(one.rings, one.rings.one_bit);
    one.half_bit_fraction = resolved_fraction(one.rings, one.rings.half_bit);
    one.strengths = strengths(aligned, s);
    for (int b = 0; b < pair.n_images(); ++b)
      if (b != s) one.cross_talk = std::max(one.cross_talk, one.strengths[b]);
    slices.push_back(std::move(one));
  }
  return slices;
}

}  // namespace tessera::analysis
