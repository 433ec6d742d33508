#include "tessera/physics/probe_modes.hpp"

#include <Eigen/Dense>

namespace tessera::physics {

using device::complex;

/// Allocated once: the epoch loop allocates nothing.
struct ModeOrthogonaliser::EigenProblem {
  explicit EigenProblem(int n) : gram(n, n), solver(n) {}
  Eigen::MatrixXcd gram;
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXcd> solver;
};

ModeOrthogonaliser::ModeOrthogonaliser(int n_modes, Shape2 window)
    : n_modes_(n_modes),
      window_(window),
      gram_("tessera::physics::gram", static_cast<std::size_t>(2 * n_modes * n_modes)),
      scratch_("tessera::physics::gram_scratch", 2),
      host_gram_("tessera::physics::host_gram", gram_.extent(0)),
      mixing_("tessera::physics::mixing", n_modes, n_modes),
      host_mixing_("tessera::physics::host_mixing", n_modes, n_modes),
      problem_(std::make_unique<EigenProblem>(n_modes)) {}

ModeOrthogonaliser::~ModeOrthogonaliser() = default;

void ModeOrthogonaliser::orthogonalise(const device::Device& exec, const ProbeView& probe) {
  Kokkos::deep_copy(exec, gram_, 0.0);
  for (int a = 0; a < n_modes_; ++a)
    for (int b = 0; b <= a; ++b) {
      const std::size_t at = 2 * (static_cast<std::size_t>(a) * n_modes_ + b);
      device::add_pixel_sums<2>(
          exec, "tessera::physics::gram", 1, window_,
          KOKKOS_LAMBDA(int, const int y, const int x, double* sum) {
            const complex product = Kokkos::conj(probe(a, y, x)) * probe(b, y, x);
            sum[0] += static_cast<double>(product.real());
            sum[1] += static_cast<double>(product.imag());
          },
          scratch_, Kokkos::subview(gram_, std::pair(at, at + 2)));
    }
  Kokkos::deep_copy(exec, host_gram_, gram_);
  exec.fence();

  for (int a = 0; a < n_modes_; ++a)
    for (int b = 0; b <= a; ++b) {
      const int at = 2 * (a * n_modes_ + b);
      problem_->gram(a, b) = {host_gram_(at), host_gram_(at + 1)};
    }
  problem_->solver.compute(problem_->gram);  // reads the lower triangle; eigenvalues ascend
  for (int k = 0; k < n_modes_; ++k) {
    const auto vector = problem_->solver.eigenvectors().col(n_modes_ - 1 - k);
    int largest = 0;
    vector.cwiseAbs().maxCoeff(&largest);
    // An eigenvector's phase is arbitrary: keep the phase of the mode that it is mostly made of.
    const std::complex<double> phase = std::conj(vector(largest)) / std::abs(vector(largest));
    for (int m = 0; m < n_modes_; ++m) {
      const std::complex<double> weight = vector(m) * phase;
      host_mixing_(k, m) =
          complex(static_cast<Real>(weight.real()), static_cast<Real>(weight.imag()));
    }
  }
  Kokkos::deep_copy(exec, mixing_, host_mixing_);
  const auto mixing = mixing_;
  const int n_modes = n_modes_;
  device::for_each_pixel(
      exec, "tessera::physics::mix_modes", 1, window_,
      KOKKOS_LAMBDA(int, const int y, const int x) {
        complex before[max_modes];
        for (int m = 0; m < n_modes; ++m) before[m] = probe(m, y, x);
        for (int k = 0; k < n_modes; ++k) {
          complex sum = 0;
          for (int m = 0; m < n_modes; ++m) sum += mixing(k, m) * before[m];
          probe(k, y, x) = sum;
        }
      });
}

std::vector<double> mode_powers(const device::Device& exec, const ProbeView& probe) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), probe);
  exec.fence();
  std::vector<double> powers(host.extent(0), 0.0);
  for (std::size_t m = 0; m < host.extent(0); ++m)
    for (std::size_t y = 0; y < host.extent(1); ++y)
      for (std::size_t x = 0; x < host.extent(2); ++x)
        powers[m] += std::norm(std::complex<double>(host(m, y, x).real(), host(m, y, x).imag()));
  return powers;
}

}  // namespace tessera::physics
