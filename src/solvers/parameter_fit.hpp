#pragma once
/// One parameter that is fitted beside object and probe, and what all of them share.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "settings/experiment.hpp"
#include "settings/object.hpp"
#include "settings/refine.hpp"
#include "solvers/refinement.hpp"

namespace tessera::solvers {

/// What a step of a parameter looks at.
struct FitSetup {
  Unknowns unknowns;
  physics::ForwardModel& model;
  MovingPositions positions;
};

class ParameterFit {
 public:
  virtual ~ParameterFit() = default;

  /// What the next epoch depends on; the same list on all ranks.
  virtual Fields fields() const = 0;
  /// Sets what the model adds up in this epoch.
  /// @return whether the epoch fits it: only then the following is called
  virtual bool start_epoch(const RefinedEpoch& epoch, physics::FittedParameters& fitted) = 0;
  /// See Refinement. An odd number, so that positions that swing about the truth have another sign
  /// from epoch to epoch.
  virtual int n_steps() const { return 5; }
  /// After a batch. Collective.
  virtual void update(const device::Device& exec, Sweep& sweep) = 0;
  /// What keeps it apart from object and probe. Collective.
  virtual void finish_epoch(const device::Device&, Sweep&) {}

  /// What Refinement has by these names, of positions.
  virtual Fields windows() const { return {}; }
  virtual std::vector<Vec2> displacements_px(const device::Device&, std::span<const int>) const {
    return {};
  }
  virtual void move_positions(const device::Device&, std::span<const int>, std::span<const Vec2>) {}
  virtual void put_back(const device::Device&) {}
  virtual double max_drift_px(const device::Device&) const { return 0; }
};

/// For each of settings::Refine a file in parameters/ has these two.
template <class Settings>
std::unique_ptr<ParameterFit> make_fit(const Settings& settings, const FitSetup& setup);
/// Gives `parameters` what the model needs of it.
template <class Settings>
void start_parameter(const Settings& settings, const ParameterStart& start,
                     physics::Parameters& parameters);

inline bool has_begun(std::optional<int> from_epoch, const RefinedEpoch& epoch) {
  return from_epoch >= 0 && epoch.number >= from_epoch;
}

/// Intensity and background explain the same counts: what is missing of these they share.
inline double share_of_counts(const physics::FittedParameters& fitted) {
  return fitted.intensity && fitted.background ? 0.5 : 1;
}

KOKKOS_INLINE_FUNCTION double bounded(double value, double min, double max) {
  return value < min ? min : value > max ? max : value;
}

/// Adds to one column, of a position that the batch has seen, a Gaussian prior of this curvature
/// about where `away` is 0.
KOKKOS_INLINE_FUNCTION void hold_back(const device::DeviceView<double** [2]>& slopes, int position,
                                      int column, double curvature, double away) {
  if (!(slopes(position, column, 1) > 0)) return;
  slopes(position, column, 0) -= curvature * away;
  slopes(position, column, 1) += curvature;
}

/// Slope / curvature of one column, which starts anew.
KOKKOS_INLINE_FUNCTION double take_step(const device::DeviceView<double** [2]>& slopes,
                                        int position, int column) {
  const double curvature = slopes(position, column, 1);
  const double step = curvature > 0 ? slopes(position, column, 0) / curvature : 0;
  slopes(position, column, 0) = 0;
  slopes(position, column, 1) = 0;
  return step;
}

/// f(i) for i from 0 to n - 1.
template <class F>
void for_all(const device::Device& exec, const char* name, std::size_t n, const F& f) {
  Kokkos::parallel_for(device::kernel_name(name),
                       Kokkos::RangePolicy<device::Device>(exec, 0, static_cast<int>(n)), f);
}

}  // namespace tessera::solvers
