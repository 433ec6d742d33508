#pragma once
/// From object and probe to the waves at the detector, and back: far field, mixed-state probe
/// (Thibault & Menzel 2013, Nature 494, 68), sub-pixel positions by a Fourier shift of the probe.

#include <vector>

#include "tessera/device/device.hpp"
#include "tessera/fft/plan.hpp"
#include "tessera/physics/gradient_sums.hpp"
#include "tessera/physics/scan_tile.hpp"

namespace tessera::physics {

/// From a batch's complete sums to the probe of the next.
struct ProbeUpdate {
  ProbeView probe_sum;                 ///< as `add_gradients` leaves it; zero afterwards
  device::DeviceView<Real**> overlap;  ///< zero afterwards
  const Real* step;                    ///< on the device
  Real alpha;
  device::DeviceView<Real> greatest_overlap;  ///< = max of overlap
  device::DeviceView<Real> greatest_power;    ///< = max over pixels of sum_m |new probe_m|^2
};

struct ChunkImages;
namespace hot_path {
struct Slots;
}

/// exit_wave[j, m] = probe_m(x - shift_j) object(x + corner_j); detector_wave = unitary FFT of it.
///
/// `forward` is linear in the object and in the probe; `backward` with `add_gradients` is its
/// adjoint. One chunk at a time: each call works on the waves that
/// the one before left, and chunks that share slots follow one another.
class ForwardModel {
 public:
  /// @param chunk_size most positions in a chunk
  /// @param max_slots most shifted probes that a chunk, or chunks that share them, see
  /// @param fixed_order sums over positions in the chunk's order, so that a run repeats bit for bit
  ForwardModel(const ScanTile& scan, int n_modes, int chunk_size, int max_slots, bool fixed_order,
               fft::Planning planning);

  /// The probe that the following chunks see. Its contents may change only with another call, or by
  /// `update_probe`; the scan's slots only with one of these or `forget_slots`.
  void set_probe(const device::Device& exec, const ProbeView& probe);
  /// The next chunk makes its shifted probes anew.
  void forget_slots() { first_slot_ = -1; }

  /// True where `update_probe` can stand in for `finish_probe_gradient`, an update pixel by pixel
  /// and `set_probe`: fused(), with sub-pixel positions.
  bool updates_probe() const { return fused_ && scan_.has_subpixel; }
  /// probe += step probe_sum / ((1 - alpha) overlap + alpha greatest_overlap) where that weight is
  /// not zero, for the probe that was set; the following chunks see it. Call where updates_probe().
  void update_probe(const device::Device& exec, const ProbeUpdate& update);

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
  /// sum_j |object_j|^2. With sub-pixel positions sums.probe is a spectrum: `finish_probe_gradient`
  /// makes it a probe after all ranks' sum.
  /// @param with_probe false: sums.probe and sums.overlap stay as they are
  /// @param scale of the waves; those that `backward` leaves have the unitary one
  void add_gradients(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                     const GradientSums& sums, bool with_probe, Real scale);
  void add_gradients(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                     const GradientSums& sums, bool with_probe) {
    add_gradients(exec, object, chunk, sums, with_probe, unitary_scale());
  }
  void finish_probe_gradient(const device::Device& exec, const ProbeView& probe_sum) const;

  /// The pieces of the above, for models and kernels that do without `forward`.
  /// slot_probes() = the shifted probes that `chunk` sees, unless they are there already.
  void shift_probes(const device::Device& exec, const Chunk& chunk);
  /// (n_slots, n_modes, h, w); the probe itself without sub-pixel positions.
  device::complex* slot_probes() const;
  /// Of the same shape: where conj(object_j) waves_jm of the positions of a slot is summed; zero
  /// when its first chunk begins. `probe_sum` itself without sub-pixel positions.
  device::complex* slot_sums(const ProbeView& probe_sum) const;
  /// After the last chunk that shares its slots: probe_sum += their sums, which become zero.
  void gather_slots(const device::Device& exec, const Chunk& chunk, const ProbeView& probe_sum);

  const WavesView& waves() const { return waves_; }
  const ScanTile& scan() const { return scan_; }
  int n_modes() const { return n_modes_; }
  int chunk_size() const { return chunk_size_; }
  int max_slots() const { return max_slots_; }
  /// True where the fused kernels of hot_path.hpp can stand in for the steps above: on a GPU, in
  /// single precision, for square windows of a power of two, in no fixed order.
  bool fused() const { return fused_; }
  Real unitary_scale() const { return plan_.unitary_scale(); }
  /// Transforms that one position needs from forward to probe gradient, for one mode: the mean over
  /// the chunks so far.
  double transforms_per_position() const;

 private:
  void add_object_gradient(const device::Device& exec, const Chunk& chunk, const GradientSums& sums,
                           Real scale) const;
  void add_probe_gradient(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                          const GradientSums& sums, Real scale);
  ChunkImages probe_images() const;
  hot_path::Slots fused_slots(const Chunk& chunk) const;

  const ScanTile& scan_;
  int n_modes_;
  int chunk_size_;
  int max_slots_;
  bool fixed_order_;
  bool fused_;
  fft::Plan plan_;
  WavesView waves_;
  ProbeView probe_;
  ProbeView spectrum_;  ///< unnormalised FFT of the probe; along x alone where fused_
  WavesView slot_probes_;
  WavesView slot_sums_;
  device::DeviceView<device::complex**> ramp_y_;  ///< (slot, h): Fourier shift along y
  device::DeviceView<device::complex**> ramp_x_;
  int first_slot_ = -1;  ///< of the slots in slot_probes_; -1: none
  double positions_seen_ = 0;
  double slots_made_ = 0;
};

}  // namespace tessera::physics
