#pragma once
/// What object and probe must obey between epochs, whatever the method.

#include <cstdint>
#include <memory>
#include <numbers>
#include <span>

#include "tessera/fft/plan.hpp"
#include "tessera/solvers/solver.hpp"

namespace tessera::solvers {

/// When a constraint acts: after epoch `from_epoch` (from 0; negative: never) and then every so
/// many epochs.
struct Onset {
  int from_epoch = -1;
  int every = 1;
  bool ever() const { return from_epoch >= 0; }
  bool acts(int epoch) const {
    return ever() && epoch >= from_epoch && (epoch - from_epoch) % every == 0;
  }
};

struct Interval {
  double least = 0;
  double greatest = 0;
};

/// docs/methods/constraints.md has formulas and sources.
struct ConstraintOptions {
  int n_slices = 1;       ///< object planes are (mode, slice), slices together
  int n_probe_modes = 1;  ///< the first images of the probe; what follows are OPR modes

  Onset amplitude_bounds = {};
  Interval amplitude{0, 1};
  Onset phase_bounds = {};
  Interval phase_rad{-std::numbers::pi, std::numbers::pi};
  Onset positive_phase = {};  ///< bounds [0, pi]
  Onset object_support = {};
  double object_support_radius_px = 0;  ///< 0: the scanned area
  Onset l1 = {};
  double l1_threshold = 0;  ///< of |o - 1|
  Onset smoothness = {};
  double smoothness_step = 0;  ///< up to 1/8
  Onset low_pass = {};
  double low_pass_sigma_px = 0;
  Onset total_variation = {};
  double total_variation_weight = 0;
  Onset slice_coupling = {};
  double slice_coupling_sigma = 0;  ///< slices

  Onset phase_ramp = {};
  Onset probe_centring = {};
  Onset probe_power = {};
  double probe_power_counts = 0;
  Onset probe_aperture = {};
  double probe_aperture_radius_px = 0;  ///< detector pixels
  Onset probe_support = {};
  double probe_support_radius_px = 0;  ///< object pixels
  Onset mode_power = {};
  double least_mode_power = 0;  ///< as a fraction of all modes' power

  /// How far a tile's ghosts must reach past its owned pixels (decomposition::make_tiling).
  int ghost_margin_px() const;
};

/// Where the object and the probe of a rank lie.
struct ConstrainedTile {
  Box owned;    ///< object pixels
  Box ghosted;  ///< object pixels; holds `owned` grown by the margin, within the object
  Shape2 object;
  Shape2 window;
  int n_probe_images = 1;         ///< modes and OPR modes
  std::span<const Pixel> corner;  ///< window corners of all scan positions, object pixels
};

/// Applied by the epoch loop after every epoch, of every method. Object constraints give on N tiles
/// what they give on one: stencils see their neighbours' pixels, which are exchanged after every
/// step. The probe is treated alike on every rank.
///
/// Centring, phase ramp and power change object and probe together so that no intensity changes;
/// what a method remembers from epoch to epoch (exit waves, search directions) does not follow.
class Constraints {
 public:
  /// Allocates all that `apply` needs.
  /// @throws std::invalid_argument if the ghosts do not reach as far as ghost_margin_px
  Constraints(const ConstraintOptions& options, const ConstrainedTile& tile,
              fft::Planning planning);
  ~Constraints();

  /// What acts after `epoch` (from 0), in this order: centring, phase ramp, aperture, probe
  /// support, mode power, power; low-pass, smoothness, total variation, slice coupling, L1, phase
  /// and amplitude bounds, object support. Afterwards ghosts equal their owners' values and probes
  /// are the same on all ranks. Does not wait for the device. Collective.
  void apply(const device::Device& exec, Sweep& sweep, const Unknowns& unknowns, int epoch);

  /// Device memory that Constraints takes.
  static std::int64_t bytes(const ConstraintOptions& options, Shape2 ghosted, Shape2 window,
                            int n_probe_images);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tessera::solvers
