#pragma once
/// What object and probe must obey between epochs, whatever the method.

#include <cstdint>
#include <memory>
#include <span>

#include "tessera/fft/plan.hpp"

#include "settings/constraints.hpp"
#include "solvers/solver.hpp"

namespace tessera::solvers {

/// Where the object and the probe of a rank lie, and what they are made of.
struct ConstrainedTile {
  Box owned;    ///< object pixels
  Box ghosted;  ///< object pixels; holds `owned` grown by the margin, within the object
  Shape2 object;
  Shape2 window;
  int n_slices = 1;               ///< object planes are (mode, slice), slices together
  int n_probe_modes = 1;          ///< the first images of the probe; what follows are OPR modes
  int n_probe_images = 1;         ///< modes and OPR modes
  double counts_per_pattern = 0;  ///< what probe and background bring, where settings name no power
  device::DeviceView<Real**> background;  ///< (h, w), counts per pattern; empty: none
  /// 1 = trust, zero frequency at [0, 0], of far fields; empty: all are
  device::DeviceView<Real**> trusted_by_far_field;
  std::span<const Pixel> corner;  ///< window corners of all scan positions, object pixels
};

/// Applied by the epoch loop after every epoch, of every method. Object constraints give on N tiles
/// what they give on one: stencils see their neighbours' pixels, which are exchanged after every
/// step. The probe is treated alike on every rank.
///
/// Centring, phase ramp and power change object and probe together so that no intensity changes;
/// what a method remembers from epoch to epoch (exit waves, search directions) does not follow.
class ConstraintList {
 public:
  /// Allocates all that `apply` needs.
  /// @param plan of the window's shape; lives as long as this
  /// @throws std::invalid_argument if the ghosts do not reach as far as ghost_margin_px
  ConstraintList(const settings::Constraints& settings, const ConstrainedTile& tile,
                 const fft::Plan& plan);
  ~ConstraintList();

  /// What acts after `epoch` (from 0), in the order of settings::Constraints. Afterwards ghosts
  /// equal their owners' values and probes are the same on all ranks. Does not wait for the device.
  /// Collective.
  void apply(const device::Device& exec, Sweep& sweep, const Unknowns& unknowns, int epoch);

  /// How far a tile's ghosts must reach past its owned pixels (decomposition::make_tiling).
  static int ghost_margin_px(const settings::Constraints& settings);
  /// Device memory that Constraints takes.
  static std::int64_t bytes(const settings::Constraints& settings, Shape2 ghosted, Shape2 window,
                            int n_probe_images);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tessera::solvers
