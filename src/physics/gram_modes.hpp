#pragma once
/// What makes modes orthogonal: the eigenvectors of their Gram matrix, in double, on the host.

#include <complex>
#include <memory>

namespace tessera::physics {

/// Allocated once: the epoch loop allocates nothing.
class GramModes {
 public:
  explicit GramModes(int n_modes);
  ~GramModes();
  /// <mode b, mode a>; of these only a >= b is read.
  std::complex<double>& product(int a, int b);
  void solve();
  /// Share of mode m in the k-th orthogonal mode, k ascending with falling power. An eigenvector's
  /// phase is arbitrary: it is that of the mode which it is mostly made of.
  std::complex<double> share(int k, int m) const;

 private:
  struct Problem;
  std::unique_ptr<Problem> problem_;
};

}  // namespace tessera::physics
