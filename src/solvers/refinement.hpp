#pragma once
/// Fits everything but object and probe, beside any solver: after each batch a Gauss-Newton step of
/// every parameter from the slopes that the model has added up, and at an epoch's end what keeps
/// the parameters apart from object and probe. What is fitted is the list settings::Refine.

#include <memory>
#include <span>
#include <vector>

#include "settings/experiment.hpp"
#include "settings/object.hpp"
#include "settings/refine.hpp"
#include "solvers/solver.hpp"

namespace tessera::solvers {

class ParameterFit;

/// (position, 2) of a rank's positions (y, x), object pixels; no rows where positions do not move.
struct MovingPositions {
  device::DeviceView<double* [2]> given;   ///< by the scan, from the object's corner
  device::DeviceView<double* [2]> at_cut;  ///< displacement when the tiles were cut
  Pixel tile_begin;                        ///< where the rank's ghosted box lies in the object
};

/// What parameters start from.
struct ParameterStart {
  const settings::Experiment& experiment;
  const settings::Object& object;
  const physics::ModelOptions& model;
  Shape2 window;
  std::size_t n_positions;  ///< of this rank
};

/// Adds to what the scan gives (shifts, a background) what else the model knows of this rank's
/// positions.
void add_parameters(const settings::Refine& settings, const ParameterStart& start,
                    physics::Parameters& parameters);

/// What an epoch's steps depend on besides the settings.
struct RefinedEpoch {
  int number;             ///< of the run, from 0
  double counts_of_scan;  ///< a pixel's, on average; infinite where they may be no counts
  bool keeps_waves;       ///< of every position, from before: they pull positions back
  /// Squared distance of a lit pixel's amplitudes in the epoch before; counts.
  double pixel_noise;
};

/// By position nothing travels but, per epoch, twice 13 doubles for the frame of the scan, 3 for
/// the gain of its steps, twice 3 for intensities and a few for means of weights; the background
/// all-reduces 2 Reals a detector pixel per batch, slices a few doubles.
class Refinement {
 public:
  Refinement(const settings::Refine& settings, const Unknowns& unknowns,
             physics::ForwardModel& model, const MovingPositions& positions);
  ~Refinement();
  /// With MovingPositions, and the displacements' last good state.
  static std::int64_t bytes(const physics::Sizes& sizes);

  /// The model adds up what is fitted in this epoch.
  void start_epoch(const RefinedEpoch& epoch);
  bool is_active() const { return !fitted_now_.empty(); }
  /// Updates that keep up with a batch that goes far (Solver::goes_far).
  int n_steps() const;
  /// After a batch. Collective.
  void update(const device::Device& exec, Sweep& sweep);
  /// After an epoch. Collective; waits for the device.
  void finish_epoch(const device::Device& exec, Sweep& sweep);

  /// How far these positions of this rank are from where the scan has them, object pixels. Of an
  /// epoch that fits positions. Waits for the device.
  std::vector<Vec2> displacements_px(const device::Device& exec,
                                     std::span<const int> positions) const;
  /// To places as far away, or as near to them as positions may go. Waits for the device.
  void move_positions(const device::Device& exec, std::span<const int> positions,
                      std::span<const Vec2> to_px);

  /// What a beam that changes may have been taken for: positions to where the scan has them,
  /// intensities to their mean.
  void put_back(const device::Device& exec);

  /// What is known besides object and probe, fitted or given; the same list on all ranks.
  Fields parameters() const;
  /// Where the windows lie; none where positions do not move.
  Fields windows() const;
  /// How far any of this rank has moved along an axis since the tiles were cut, pixels. Waits for
  /// the device.
  double max_drift_px(const device::Device& exec) const;

 private:
  Unknowns unknowns_;
  physics::ForwardModel& model_;
  std::vector<std::unique_ptr<ParameterFit>> all_;
  std::vector<ParameterFit*> fitted_now_;
};

}  // namespace tessera::solvers
