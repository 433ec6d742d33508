#pragma once
/// From object and probe to the waves at the detector, and back: mixed-state probe and object
/// (Thibault & Menzel 2013, Nature 494, 68), sub-pixel positions by a Fourier shift of the probe,
/// thick samples, far and near field, fly scans.

#include <memory>
#include <utility>

#include "tessera/device/device.hpp"
#include "tessera/fft/plan.hpp"
#include "tessera/physics/model_options.hpp"
#include "tessera/physics/scan_tile.hpp"
#include "tessera/physics/sizes.hpp"

#include "physics/dense_coverage.hpp"
#include "physics/detector.hpp"
#include "physics/gradient_sums.hpp"
#include "physics/illumination.hpp"
#include "physics/near_field.hpp"
#include "physics/parameters.hpp"
#include "physics/position_correlation.hpp"
#include "physics/slices.hpp"

namespace tessera::physics {

struct SlotGradient;

/// exit_wave[j, o, m] = probe_m(x - shift_j) object_o(x + corner_j), through all slices;
/// detector_wave = unitary FFT of it, or its near field.
///
/// For a thin sample `forward` is linear in the object and in the probe; `backward` with
/// `add_gradients` is its adjoint, of a thick one that of its derivative. One chunk at a time: each
/// call works on the waves that the one before left, and chunks that share slots follow one
/// another.
class ForwardModel {
 public:
  /// @param scan on the device, with the parameters' positions
  /// @param parameters shared with who fits them
  ForwardModel(const ScanTile& scan, const Parameters& parameters, const ModelOptions& options);
  /// Of the plain model.
  ForwardModel(const ScanTile& scan, int n_modes, int chunk_size, int max_slots, bool fixed_order,
               fft::Planning planning);
  static std::int64_t bytes(const Sizes& sizes);

  /// The probe that the following chunks see, its OPR modes behind its modes, and the present
  /// parameters. Its contents, and the scan's slots, may change only with another call.
  void set_probe(const device::Device& exec, const ProbeView& probe);

  /// The same where the probe's spectrum has been brought up to date with it.
  void take_parameters(const device::Device& exec);

  /// waves() = detector waves of `chunk`: the two steps that follow.
  void forward(const device::Device& exec, const ObjectView& object, const Chunk& chunk);
  /// waves() = scale * exit waves of `chunk`.
  void exit_waves(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                  Real scale = 1);
  /// waves(): from the sample to the detector. Unnormalised: unitary only of exit waves that carry
  /// the factor unitary_scale().
  void to_detector(const device::Device& exec, const Chunk& chunk);
  /// waves(): from the detector back to the sample. Unnormalised: the exit waves come out divided
  /// by unitary_scale(), which `add_gradients` makes good.
  void backward(const device::Device& exec, const Chunk& chunk);

  /// With the waves that `backward` leaves: sums.object += sum_jm conj(probe_jm) waves_jm and
  /// sums.dose += sum_jm |probe_jm|^2, at every window; sums.probe += sum_j conj(object_j)
  /// waves_jm, complete once the last chunk that shares its slots is added, and sums.overlap +=
  /// sum_j |object_j|^2. Behind further slices, what falls on each of them stands for the probe.
  /// With slots sums.probe is a spectrum: `finish_probe_gradient` makes it a probe after all ranks'
  /// sum. Slopes of the fitted parameters are added to slopes(). waves() stay if
  /// is_thin_in_far_field().
  /// @param sums those of_probe() have no sums of the object, and none are made
  /// @param with_probe false: sums.probe and sums.overlap stay as they are
  /// @param scale of the waves; those that `backward` leaves have the unitary one
  void add_gradients(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                     const GradientSums& sums, bool with_probe, Real scale);
  void add_gradients(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                     const GradientSums& sums, bool with_probe) {
    add_gradients(exec, object, chunk, sums, with_probe, unitary_scale());
  }
  /// Of exit waves of a thin sample less those of object and probe as they are: sums.probe and
  /// sums.overlap, as `add_gradients` adds them.
  /// @param waves the chunk's, or, if `waves_by_position`, of all local positions
  void add_probe_residual(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                          const WavesView& waves, bool waves_by_position, const GradientSums& sums);
  /// The last part of both: what slots' sums say of the probe, and of parameters that are `fitted`.
  void take_slot_sums(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                      const GradientSums& sums, bool with_probe, const FittedParameters& fitted);
  void finish_probe_gradient(const device::Device& exec, const ProbeView& probe_sum) const {
    illumination_.finish(exec, probe_sum);
  }

  /// Which parameters' slopes are added up from now on, by `add_gradients` and by the detector.
  void fit(const FittedParameters& fitted);
  const FittedParameters& fitted() const { return fitted_; }
  const ParameterSlopes& slopes() const { return slopes_; }
  const Parameters& parameters() const { return parameters_; }

  Detector& detector() { return detector_; }
  const Detector& detector() const { return detector_; }
  Illumination& illumination() { return illumination_; }
  const Illumination& illumination() const { return illumination_; }
  const DenseCoverage& coverage() const { return coverage_; }
  const WavesView& waves() const { return waves_; }
  /// Keep the present waves, of a chunk's shape: the model goes on with `others`.
  void swap_waves(WavesView& others) { std::swap(waves_, others); }
  const ScanTile& scan() const { return scan_; }
  const ModelOptions& options() const { return options_; }
  int n_modes() const { return options_.n_modes; }
  int chunk_size() const { return options_.chunk_size; }
  int max_slots() const { return options_.max_slots; }
  /// Which kernels the passes over a chunk take.
  Kernels kernels() const { return kernels_; }
  /// What fused kernels need of further slices; null: they do not take the gradient through them.
  const Slices* fused_slices() const {
    return fuses_slices_ && !fitted_.any_of_optics() ? slices_.get() : nullptr;
  }
  /// Of the window's shape: for whoever transforms images of it.
  const fft::Plan& plan() const { return plan_; }
  Real unitary_scale() const { return plan_.unitary_scale(); }
  /// Transforms that one position needs from forward to probe gradient, for one mode: the mean so
  /// far.
  double transforms_per_position() const { return 2 + 2 * illumination_.shifts_per_position(); }

 private:
  int n_beams(const Chunk& chunk) const { return chunk.count * options_.n_sub_positions; }
  void multiply_by_object(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                          const WavesView& waves, Real scale) const;
  void add_slot_gradient(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                         const GradientSums& sums, bool with_probe, Real scale);
  void add_overlap(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                   const GradientSums& sums) const;
  SlotGradient slot_gradient(const ObjectView& object, const Chunk& chunk, const WavesView& waves,
                             const GradientSums& sums, Real scale) const;
  int n_seen(const Chunk& chunk) const;

  const ScanTile& scan_;
  Parameters parameters_;
  ModelOptions options_;
  fft::Plan plan_;  ///< the only one of its shape; the parts hold it
  Detector detector_;
  Kernels kernels_;
  bool fuses_slices_;
  FittedParameters fitted_;
  ParameterSlopes slopes_;
  Illumination illumination_;
  DenseCoverage coverage_;
  WavesView waves_;
  WavesView exit_waves_;  ///< once more, for near-field positions
  std::unique_ptr<Slices> slices_;
  std::unique_ptr<NearField> near_field_;
  std::unique_ptr<PositionCorrelation> correlation_;
};

}  // namespace tessera::physics
