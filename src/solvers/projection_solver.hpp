#pragma once
/// Difference map and RAAR: projections of exit waves that are kept for every position.

#include "physics/gradient_pass.hpp"
#include "physics/probe_modes.hpp"
#include "physics/projection_pass.hpp"
#include "settings/solver.hpp"
#include "solvers/batch_sums.hpp"
#include "solvers/owned_tile.hpp"
#include "solvers/solver.hpp"

namespace tessera::solvers {

/// Two projections of all exit waves psi_jm. The modulus constraint P_M gives each detector wave
/// the measured amplitude; the overlap constraint P_O finds object and probe that explain all of
/// them, and makes psi_jm = P_jm O_j. With the reflections R = 2 P - 1,
///   difference map (Thibault et al. 2009, Ultramicroscopy 109, 338, beta = 1):
///     psi <- psi + P_M R_O psi - P_O psi
///   RAAR (Luke 2005, Inverse Problems 21, 37; Marchesini et al. 2016, J. Appl. Cryst. 49,
///   1245): psi <- [beta / 2 (R_O R_M + 1) + (1 - beta) P_M] psi
/// P_O, of psi or for RAAR of R_M psi, finds first the object, then the probe (as Thibault 2009):
///   object += (sum_jm conj(P_jm) psi_jm - D object) / max(D, D_min),  D = sum_jm |P_jm|^2,
///   probe_m += sum_j S_j* [conj(O_j) (psi_jm - P_jm O_j)] / max_x sum_j |O_j|^2,
/// with P_jm = S_j probe_m shifted to its position, and D_min = 0.01 max_x sum_m |P_m|^2: noise
/// over next to nothing has no bound. The object's quotient is exact where D is above that; the
/// probe has none where it is shifted. Until projections alternate the probe's sums are those of a
/// sample of the positions (decision 26): every probe pixel is seen by all of them, an object's by
/// those around it. A pattern within the distance r^2 / 4 mean counts, r = fourier_relaxation,
/// fulfils the modulus constraint; others are brought to that distance (Giewekemeyer et al. 2010,
/// PNAS 107, 529). The difference map takes 0.7 of the mean distance that P_O had in the epoch
/// before, if that is more: where noise lets the two constraints not meet it would wander on.
/// Masked pixels float. Positions have their slopes from P_O of the new object and probe, and the
/// windows of waves stay where they are: positions move in them. The whole scan is one batch. The
/// difference map keeps one wave per position and mode, RAAR one and room for another. In an epoch
/// the ranks exchange 3 Reals per ghost pixel to owners and 2 back, and all-reduce 2 n_modes + 1
/// Reals per probe pixel; the host waits for the difference map's distance. Without an update of
/// the probe one object update is all.
class ProjectionSolver final : public Solver {
 public:
  ProjectionSolver(const settings::Solver& settings, Unknowns& unknowns,
                   physics::ForwardModel& model, const OwnedTile& tile);
  /// Device memory that it takes.
  static std::int64_t bytes(const settings::Solver& settings, const physics::Sizes& sizes);
  /// See copies_remembered.
  static double remembered(const settings::Solver&) { return 0; }
  /// See transforms_needed.
  static double transforms(int n_slices, double shift);

  void start_epoch(const device::Device& exec, int epoch) override;
  bool repeats_from(int) const override { return false; }
  void run_batch(const device::Device& exec, Sweep& sweep, const Batch& batch, int epoch) override;
  /// All waves start anew: those of positions that stay know of those that were elsewhere.
  void take_far_moves() override { mean_counts_ = 0; }
  void finish_epoch(const device::Device& exec, Sweep& sweep, int epoch) override;
  void add_slopes(const device::Device& exec, Sweep& sweep, const Batch& batch) override;
  void take_sums(const device::Device& exec, const device::DeviceView<double*>& taken) override;
  Fields memory() override;

  /// Part of the patterns' mean distance that none has to go below.
  static constexpr double kept_distance = 0.7;

  /// Owners update their pixels from complete sums. All sums become zero.
  void update_object(const device::Device& exec, Sweep& sweep, const BlockList& touched);

 private:
  void start_waves(const device::Device& exec, const Batch& batch);
  double distance_bound() const;
  void project(const device::Device& exec, Sweep& sweep, const Batch& batch, int epoch);
  double mean_distance(const device::Device& exec, Sweep& sweep, const Batch& batch);
  void update_probe(const device::Device& exec);

  settings::Solver settings_;
  settings::Projection own_;
  Unknowns& unknowns_;
  physics::ForwardModel& model_;
  OwnedTile tile_;
  BatchSums batch_sums_;
  Maxima maxima_;
  physics::ProjectionPass pass_;
  physics::GradientPass slope_pass_;            ///< its figures are no epoch's
  device::DeviceView<int* [2]> window_corner_;  ///< of the waves; none where windows do not move
  device::DeviceView<double*> sums_;
  device::HostView<double*> host_sums_;
  double mean_counts_ = 0;    ///< per pattern: the power of the probe at the waves' start; 0: they
                              ///< are still to start
  double mean_distance_ = 0;  ///< squared, of a pattern to P_O in the epoch before
  bool settles_ = false;      ///< this epoch alternates projections
  physics::ModeOrthogonaliser orthogonaliser_;
};

}  // namespace tessera::solvers
