#pragma once
/// Small systems of equations: here alone, because Eigen takes long to compile for every size.

#include <Eigen/Core>

namespace tessera::analysis {

/// Solves normal equations; of what they leave open, the shortest.
/// @param right a column for each system
Eigen::MatrixXd least_squares(const Eigen::MatrixXd& normal, const Eigen::MatrixXd& right);
/// The same of complex unknowns.
Eigen::VectorXcd complex_least_squares(const Eigen::MatrixXcd& normal,
                                       const Eigen::VectorXcd& right);

}  // namespace tessera::analysis
