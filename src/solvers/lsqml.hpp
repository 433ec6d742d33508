#pragma once
/// Least squares per batch: how far to go along object and probe is solved for, not set.

#include "physics/products_pass.hpp"
#include "solvers/batch_method.hpp"

namespace tessera::solvers {

/// Least-squares maximum likelihood (Odstrcil, Menzel & Guizar-Sicairos 2018, Opt. Express 26,
/// 3108, eqs. 19-26). Directions of a batch, weighted as in Pie:
///   dO = sum_jm conj(P_jm) chi_jm / weight(sum_jm |P_jm|^2),
///   dP_m = sum_j conj(O_j) chi_jm / weight(sum_j |O_j|^2),
/// and for every position j the lengths a, b that minimise
///   sum_m ||chi_jm - a u_jm - b v_jm||^2 + damping (a^2 ||u_j||^2 + b^2 ||v_j||^2)
/// where u and v are what dO and dP change in the exit waves: P_jm dO and dP_jm O for a thin
/// sample, for a thick one u is the difference that dO makes. Then O += step mean_j(a) dO and P +=
/// step mean_j(b) dP. Per batch the ranks exchange 3 Reals per ghost pixel to owners, 2 back, and
/// all-reduce 2 n_modes + 1 Reals per probe pixel and 3 doubles.
class Lsqml final : public BatchMethod<settings::Lsqml, physics::ProductsPass> {
 public:
  Lsqml(const settings::Solver& settings, Unknowns& unknowns, physics::ForwardModel& model,
        const OwnedTile& tile);
  /// Device memory that it takes.
  static std::int64_t bytes(const settings::Solver& settings, const physics::Sizes& sizes);
  /// See transforms_needed.
  static double transforms(int n_slices, double shift);

  void run_batch(const device::Device& exec, Sweep& sweep, const Batch& batch, int epoch) override;
  void finish_epoch(const device::Device& exec, Sweep& sweep, int epoch) override;

  /// Tikhonov damping of the 2 x 2 equations, relative to their diagonal.
  static constexpr double damping = 0.1;

 private:
  void find_directions(const device::Device& exec, Sweep& sweep, const Batch& batch,
                       bool with_probe);
  void find_lengths(const device::Device& exec, Sweep& sweep, const Batch& batch);

  Maxima maxima_;
  physics::ObjectView moved_;                ///< object + direction, for thick samples
  device::DeviceView<double*> length_sums_;  ///< a, b, positions
  device::DeviceView<double*> scratch_;
  device::DeviceView<Real[2]> lengths_;  ///< of this batch, times steps
};

}  // namespace tessera::solvers
