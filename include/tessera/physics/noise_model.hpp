#pragma once
/// The noise models by name, for code that knows no Kokkos.

namespace tessera::physics {

/// Costs L of one pixel, I the model's and N the measured counts. Scaled so that all three have the
/// curvature 1 / (2 N) where I = N, hence steps of the same length.
enum class Noise {
  amplitude,  ///< (sqrt I - sqrt N)^2: variance-stabilised Gaussian (Thibault & Guizar-Sicairos
              ///< 2012, New J. Phys. 14, 063004, sec. 2.2)
  intensity,  ///< (I - N)^2 / (4 (N + 1)): Gaussian of variance N; the 1 lets empty pixels count
  poisson,    ///< (I - N log I) / 2: negative log likelihood (same paper, eq. 2)
  stabilised  ///< (sqrt(I + 1/4) - (sqrt N + sqrt(N + 1)) / 2)^2: amplitudes of which dark pixels'
              ///< counts have nearly the mean that the model expects (Freeman & Tukey 1950, Ann.
              ///< Math. Stat. 21, 607): what projections have of Poisson's noise
};

/// `dark_counts`, in double.
inline constexpr double expected_dark_counts = 1e-3;

/// The amplitude model divides by no less, or a pixel without light would divide by zero.
inline constexpr double least_dark_amplitude = 1e-10;

}  // namespace tessera::physics
