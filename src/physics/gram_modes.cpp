#include "gram_modes.hpp"

#include <Eigen/Eigenvalues>

namespace tessera::physics {

struct GramModes::Problem {
  explicit Problem(int n) : gram(n, n), shares(n, n), solver(n) {}
  Eigen::MatrixXcd gram;
  Eigen::MatrixXcd shares;
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXcd> solver;
};

GramModes::GramModes(int n_modes) : problem_(std::make_unique<Problem>(n_modes)) {}
GramModes::~GramModes() = default;

std::complex<double>& GramModes::product(int a, int b) {
  return problem_->gram(a, b);
}

void GramModes::solve() {
  Problem& p = *problem_;
  p.solver.compute(p.gram);  // reads the lower triangle; eigenvalues ascend
  const Eigen::Index n = p.gram.rows();
  for (Eigen::Index k = 0; k < n; ++k) {
    const auto vector = p.solver.eigenvectors().col(n - 1 - k);
    Eigen::Index largest = 0;
    for (Eigen::Index m = 1; m < n; ++m)
      if (std::abs(vector(m)) > std::abs(vector(largest))) largest = m;
    const std::complex<double> phase = std::conj(vector(largest)) / std::abs(vector(largest));
    for (Eigen::Index m = 0; m < n; ++m) p.shares(k, m) = vector(m) * phase;
  }
}

std::complex<double> GramModes::share(int k, int m) const {
  return problem_->shares(k, m);
}

}  // namespace tessera::physics
