#pragma once
/// From object and probe to the waves at the detector, and back: mixed-state probe and object
/// (Thibault & Menzel 2013, Nature 494, 68), sub-pixel positions by a Fourier shift of the probe,
/// thick samples, far and near field, fly scans.

#include <memory>
#include <utility>

#include "tessera/device/device.hpp"
#include "tessera/fft/plan.hpp"
#include "tessera/physics/gradient_sums.hpp"
#include "tessera/physics/illumination.hpp"
#include "tessera/physics/model_options.hpp"
#include "tessera/physics/near_field.hpp"
#include "tessera/physics/parameters.hpp"
#include "tessera/physics/position_correlation.hpp"
#include "tessera/physics/scan_tile.hpp"
#include "tessera/physics/slices.hpp"

namespace tessera::physics {

/// What comparing with the measurement needs besides the waves, (position of the chunk, h, w).
struct DetectorImages {
  device::DeviceView<device::complex***> blurred;  ///< empty: no point spread
  device::DeviceView<Real***> slope;               ///< by the background; empty: there is none
  device::DeviceView<Real***> curvature;
};

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

  /// The probe that the following chunks see, its OPR modes behind its modes, and the present
  /// parameters. Its contents may change only with another call, or by `update_probe`; the scan's
  /// slots only with one of these or `forget_slots`.
  void set_probe(const device::Device& exec, const ProbeView& probe);
  /// The next chunk makes its shifted probes anew.
  void forget_slots() { illumination_.forget_slots(); }
  /// See Illumination.
  bool updates_probe() const { return illumination_.updates_probe(); }
  void update_probe(const device::Device& exec, const ProbeUpdate& update) {
    illumination_.update_probe(exec, update);
  }

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
  /// sums.illumination += sum_jm |probe_jm|^2, at every window; sums.probe += sum_j conj(object_j)
  /// waves_jm, complete once the last chunk that shares its slots is added, and sums.overlap +=
  /// sum_j |object_j|^2. Behind further slices, what falls on each of them stands for the probe.
  /// With slots sums.probe is a spectrum: `finish_probe_gradient` makes it a probe after all ranks'
  /// sum. Slopes of the fitted parameters are added to slopes(). The waves are lost.
  /// @param sums those of_probe() have no sums of the object, and none are made
  /// @param with_probe false: sums.probe and sums.overlap stay as they are
  /// @param scale of the waves; those that `backward` leaves have the unitary one
  void add_gradients(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                     const GradientSums& sums, bool with_probe, Real scale);
  void add_gradients(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                     const GradientSums& sums, bool with_probe) {
    add_gradients(exec, object, chunk, sums, with_probe, unitary_scale());
  }
  /// The last part of it: what slots' sums say of the probe, and of parameters that are `fitted`.
  void take_slot_sums(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                      const GradientSums& sums, bool with_probe, const FittedParameters& fitted);
  void finish_probe_gradient(const device::Device& exec, const ProbeView& probe_sum) const {
    illumination_.finish(exec, probe_sum);
  }

  /// For the comparisons from now on. Not where fused(), which is for amplitudes alone.
  void set_noise(Noise noise) { options_.noise = noise; }
  /// Which parameters' slopes `add_gradients` adds up from now on.
  void fit(const FittedParameters& fitted) { fitted_ = fitted; }
  const FittedParameters& fitted() const { return fitted_; }
  const ParameterSlopes& slopes() const { return slopes_; }
  const Parameters& parameters() const { return parameters_; }

  /// True where the detector compares the amplitudes of the waves alone.
  bool has_plain_detector() const;
  const DetectorImages& detector_images() const { return detector_images_; }
  /// Convolve with the detector's point spread, a Gaussian, periodically. Its own adjoint.
  void blur(const device::Device& exec, const device::DeviceView<device::complex***>& images,
            int n) const;

  Illumination& illumination() { return illumination_; }
  const Illumination& illumination() const { return illumination_; }
  const WavesView& waves() const { return waves_; }
  /// Keep the present waves, of a chunk's shape: the model goes on with `others`.
  void swap_waves(WavesView& others) { std::swap(waves_, others); }
  const ScanTile& scan() const { return scan_; }
  const ModelOptions& options() const { return options_; }
  int n_modes() const { return options_.n_modes; }
  int chunk_size() const { return options_.chunk_size; }
  int max_slots() const { return options_.max_slots; }
  /// True where the fused kernels of hot_path.hpp can stand in for the steps above: on a GPU, in
  /// single precision, for square windows of a power of two, in no fixed order, for thin samples in
  /// the far field and plain detectors.
  bool fused() const { return fused_; }
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

  const ScanTile& scan_;
  Parameters parameters_;
  ModelOptions options_;
  bool fused_;
  FittedParameters fitted_;
  ParameterSlopes slopes_;
  fft::Plan plan_;
  Illumination illumination_;
  WavesView waves_;
  WavesView exit_waves_;  ///< once more, for near-field positions
  DetectorImages detector_images_;
  std::unique_ptr<Slices> slices_;
  std::unique_ptr<NearField> near_field_;
  std::unique_ptr<PositionCorrelation> correlation_;
};

}  // namespace tessera::physics
