#pragma once
/// What the model is made of. The defaults are a thin sample in the far field, seen by one probe.

#include "tessera/fft/plan.hpp"
#include "tessera/physics/noise.hpp"

namespace tessera::physics {

enum class Propagation { far_field, fresnel, angular_spectrum };

struct ModelOptions {
  int n_modes = 1;          ///< mutually incoherent probe modes
  int n_opr_modes = 0;      ///< added to the first one with weights of each position
  int n_object_modes = 1;   ///< mutually incoherent states of the object
  int n_slices = 1;         ///< along the beam
  int n_sub_positions = 1;  ///< of a fly scan, whose patterns add up
  /// Every position sees a probe of its own, because its shift or weights change. Else positions of
  /// the same sub-pixel shift share theirs.
  bool own_probes = false;
  bool correlates_positions = false;  ///< their errors, instead of their slopes, are added up
  Propagation propagation = Propagation::far_field;
  double wavelength_m = 0;  ///< of slices and near fields
  double pixel_m = 0;       ///< of the object
  double distance_m = 0;    ///< of a near field, in the parallel beam that equals the cone
  Noise noise = Noise::amplitude;
  /// The amplitude model divides by no less, sqrt(counts): what is missing in a darker pixel is
  /// added in part, for the phase of little light says little.
  double dark_amplitude = least_dark_amplitude;
  double point_spread_px = 0;  ///< standard deviation on the detector
  int chunk_size = 1;          ///< most positions in a chunk
  int max_slots = 1;           ///< most shifted probes that chunks that share them see
  bool fixed_order = false;    ///< sums in the chunk's order, so that a run repeats bit for bit
  fft::Planning planning = fft::Planning::measured;

  /// Waves of a position.
  int n_waves() const { return n_sub_positions * n_object_modes * n_modes; }
  bool is_thin_in_far_field() const {
    return n_slices == 1 && propagation == Propagation::far_field;
  }
};

}  // namespace tessera::physics
