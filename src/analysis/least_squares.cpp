#include "least_squares.hpp"

#include <Eigen/QR>

namespace tessera::analysis {

Eigen::MatrixXd least_squares(const Eigen::MatrixXd& normal, const Eigen::MatrixXd& right) {
  return normal.completeOrthogonalDecomposition().solve(right);
}

Eigen::VectorXcd complex_least_squares(const Eigen::MatrixXcd& normal,
                                       const Eigen::VectorXcd& right) {
  const Eigen::Index n = normal.rows();
  Eigen::MatrixXd parts(2 * n, 2 * n);
  parts << normal.real(), -normal.imag(), normal.imag(), normal.real();
  Eigen::VectorXd right_parts(2 * n);
  right_parts << right.real(), right.imag();
  const Eigen::VectorXd found = least_squares(parts, right_parts);
  Eigen::VectorXcd solution(n);
  solution.real() = found.head(n);
  solution.imag() = found.tail(n);
  return solution;
}

}  // namespace tessera::analysis
