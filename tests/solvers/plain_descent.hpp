#pragma once
/// Directions of the whole-scan methods in plain double loops.

#include "solvers/descent.hpp"
#include "solvers/small_run.hpp"

namespace tessera::testing {

/// Object, then probe.
using Flat = std::vector<Complex>;

inline double inner(const Flat& a, const Flat& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (std::conj(a[i]) * b[i]).real();
  return sum;
}
inline Flat combined(double factor, const Flat& a, double other, const Flat& b) {
  Flat sum(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) sum[i] = factor * a[i] + other * b[i];
  return sum;
}

/// The formulas of descent.hpp, one point after another; no step is taken back.
class PlainDescent {
 public:
  explicit PlainDescent(const settings::Descent& options) : options_(options) {}

  /// As a constraint would, after a step.
  void scale_object(SmallScan& scan, double factor) {
    moved_.assign(gradient_.size(), 0);
    for (std::size_t i = 0; i < scan.object.size(); ++i) {
      moved_[i] = (factor - 1) * scan.object.data()[i];
      scan.object.data()[i] *= factor;
    }
  }

  /// @param length of the step, which the line search finds
  void step(SmallScan& scan, double length) {
    find_gradient(scan);
    direction_ = options_.lbfgs_history == 0 ? conjugate() : two_loops();
    previous_ = gradient_;
    const std::size_t n_object = scan.object.size();
    step_ = length;
    for (std::size_t i = 0; i < n_object; ++i) scan.object.data()[i] += step_ * direction_[i];
    for (std::size_t i = 0; i < scan.probe.size(); ++i)
      scan.probe.data()[i] += step_ * direction_[n_object + i];
  }

 private:
  void find_gradient(const SmallScan& scan) {
    std::vector<int> all(scan.corner.size());
    for (std::size_t j = 0; j < all.size(); ++j) all[j] = static_cast<int>(j);
    const PlainSums sums = plain_sums(scan, all);
    const settings::Steps& steps = options_.steps;
    const settings::Alphas& alphas = options_.alphas;
    const double power = max_power(scan.probe);
    const double overlap = *std::max_element(sums.overlap.begin(), sums.overlap.end());
    gradient_.assign(sums.object.begin(), sums.object.end());
    gradient_.insert(gradient_.end(), sums.probe.begin(), sums.probe.end());
    weight_.clear();
    for (const double d : sums.dose) weight_.push_back(steps.object / (d + alphas.object * power));
    for (int m = 0; m < scan.probe.n(); ++m)
      for (const double s : sums.overlap)
        weight_.push_back(steps.probe / (s + alphas.probe * overlap));
  }
  Flat preconditioned(Flat vector) const {
    for (std::size_t i = 0; i < vector.size(); ++i) vector[i] *= weight_[i];
    return vector;
  }
  Flat conjugate() {
    const Flat z = preconditioned(gradient_);
    double beta = 0;
    if (!previous_.empty())
      beta = std::max(0.0, (inner(gradient_, z) - inner(previous_, z)) / previous_product_);
    if (!moved_.empty()) beta = std::min(beta, 1.0);
    previous_product_ = inner(gradient_, z);
    if (direction_.empty()) return z;
    Flat d = combined(1, z, beta, direction_);
    return inner(d, gradient_) > 0 ? d : z;
  }
  Flat two_loops() {
    if (!previous_.empty()) {
      Flat s = combined(step_, direction_, 0, direction_);
      if (!moved_.empty()) s = combined(1, s, 1, moved_);
      pairs_.push_back({std::move(s), combined(1, previous_, -1, gradient_), 0});
      if (pairs_.size() > static_cast<std::size_t>(options_.lbfgs_history))
        pairs_.erase(pairs_.begin());
    }
    Flat q = gradient_;
    for (auto pair = pairs_.rbegin(); pair != pairs_.rend(); ++pair) {
      pair->alpha = inner(pair->s, q) / inner(pair->s, pair->y);
      q = combined(1, q, -pair->alpha, pair->y);
    }
    Flat r = preconditioned(q);
    if (!pairs_.empty()) {
      const Pair& newest = pairs_.back();
      const double scale = inner(newest.s, newest.y) / inner(newest.y, preconditioned(newest.y));
      r = combined(scale, r, 0, r);
    }
    for (const Pair& pair : pairs_)
      r = combined(1, r, pair.alpha - inner(pair.y, r) / inner(pair.s, pair.y), pair.s);
    return r;
  }

  struct Pair {
    Flat s, y;
    double alpha;
  };
  settings::Descent options_;
  Flat gradient_, previous_, direction_;
  Flat moved_;  ///< by a constraint since the last step; empty: none was
  std::vector<double> weight_;
  std::vector<Pair> pairs_;
  double previous_product_ = 0;
  double step_ = 0;
};

}  // namespace tessera::testing
