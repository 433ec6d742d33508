#pragma once
/// Fits everything but object and probe, beside any solver: after each batch a Gauss-Newton step of
/// every parameter from the slopes that the model has added up, and at an epoch's end what keeps
/// the parameters apart from object and probe.

#include <memory>

#include "physics/opr_modes.hpp"
#include "settings/refine.hpp"
#include "solvers/solver.hpp"

namespace tessera::solvers {

class PositionGain;
struct ScanFrame;

/// (position, 2) of a rank's positions (y, x), object pixels; no rows where positions do not move.
struct MovingPositions {
  device::DeviceView<double* [2]> given;   ///< by the scan, from the object's corner
  device::DeviceView<double* [2]> at_cut;  ///< displacement when the tiles were cut
  Pixel tile_begin;                        ///< where the rank's ghosted box lies in the object
};

/// By position nothing travels but, once per epoch, 12 doubles for the frame of the scan, 3 for the
/// gain of correlated positions and a few for means of weights; the background all-reduces 2 Reals
/// a detector pixel per batch, slices a few doubles.
class Refinement {
 public:
  using Pixels = device::DeviceView<double* [2]>;  ///< (position, 2): y, x

  Refinement(const settings::Refine& settings, const Unknowns& unknowns,
             physics::ForwardModel& model, const MovingPositions& positions);
  ~Refinement();
  /// With MovingPositions, and the displacements' last good state.
  static std::int64_t bytes(const physics::Sizes& sizes);

  /// The model adds up what is fitted in `epoch` (from 0).
  /// @param counts_of_batch what a pixel gets in the patterns of a batch, on average
  /// @param positions_part of their steps: waves that are kept from before pull positions back
  void start_epoch(int epoch, double counts_of_batch, double positions_part);
  bool is_active() const { return model_.fitted().any(); }
  /// After a batch. Collective.
  void update(const device::Device& exec, Sweep& sweep);
  /// After an epoch. Collective; waits for the device.
  void finish_epoch(const device::Device& exec, Sweep& sweep);

  /// What is known besides object and probe, fitted or given; the same list on all ranks.
  Fields parameters() const;
  /// Where the windows lie; none where positions do not move.
  Fields windows() const;
  /// How far any of this rank has moved along an axis since the tiles were cut, pixels. Waits for
  /// the device.
  double max_drift_px(const device::Device& exec) const;

 private:
  ScanFrame frame() const;
  void update_positions(const device::Device& exec);
  void step_background(const device::Device& exec, Sweep& sweep);
  void settle_positions(const device::Device& exec, Sweep& sweep);

  settings::Refine settings_;
  int epoch_ = 0;
  double counts_of_batch_ = 0;
  double positions_part_ = 1;
  double counts_since_step_ = 0;  ///< of the background
  Unknowns unknowns_;
  physics::ForwardModel& model_;
  MovingPositions positions_;
  Pixels displacement_;
  device::DeviceView<double*> first_distance_m_;
  device::DeviceView<double*> sums_;
  device::HostView<double*> host_sums_;
  std::unique_ptr<physics::OprModes> opr_modes_;
  std::unique_ptr<PositionGain> gain_;  ///< where positions come from cross-correlation
};

}  // namespace tessera::solvers
