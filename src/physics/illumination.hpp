#pragma once
/// What falls on the sample at every position: the probe, its OPR modes mixed in by the position's
/// weights, moved by the sub-pixel part of the position (a Fourier shift), scaled by the beam.

#include "tessera/device/device.hpp"
#include "tessera/fft/plan.hpp"
#include "tessera/physics/model_options.hpp"
#include "tessera/physics/scan_tile.hpp"
#include "tessera/physics/sizes.hpp"

#include "physics/chip_shifts.hpp"
#include "physics/gradient_sums.hpp"
#include "physics/parameters.hpp"
#include "physics/shared_shifts.hpp"

namespace tessera::physics {

/// Which kernels take a chunk through the model: known inside the module, kernel_choice.hpp.
enum class Kernels : int;

struct BeamMixture;
struct ChunkImages;
struct Windows;

/// A *slot* is one shifted probe. Positions of a chunk share slots (decomposition::ChunkLayout),
/// or, with `own_probes`, each sub-position has its own, in the order of the chunk. Orthogonal
/// probe relaxation (Odstrcil et al. 2016, Opt. Express 24, 8360): first mode + sum_k weight_jk
/// mode_k.
class Illumination {
  using complex = device::complex;

 public:
  /// @param plan of the window's shape; lives as long as this
  Illumination(const ScanTile& scan, const Parameters& parameters, const ModelOptions& options,
               const fft::Plan& plan, Kernels kernels);
  Illumination(const Illumination&) = delete;
  Illumination& operator=(const Illumination&) = delete;
  static std::int64_t bytes(const Sizes& sizes);

  /// The probe that the following chunks see, (n_modes + n_opr_modes, h, w). Its contents may
  /// change only with another call, or with its spectrum; the slots' shifts only with one of these
  /// or `forget_slots`.
  void set_probe(const device::Device& exec, const ProbeView& probe);
  /// For chunks that see one probe and another in turn: room for one and its shifted copies, which
  /// are kept until `transform`, whenever the contents of `probe` changed, makes its spectrum. With
  /// own_probes no chunk could use another's copies: all probes' take the same room.
  ShiftedProbe with_slots(const ProbeView& probe) const;
  static std::int64_t bytes_with_slots(const Sizes& sizes);
  void transform(const device::Device& exec, ShiftedProbe& of) const;
  /// @param probe lives until another is set
  void set_probe(ShiftedProbe& probe);
  /// The one that was set.
  ShiftedProbe& seen() { return *seen_; }
  /// The next chunk makes its shifted probes anew.
  void forget_slots() {
    seen_->forget_slots();
    seen_from_ = -1;
    chip_shifts_.forget_probe();
  }

  /// True where spectra are row spectra (hot_path.hpp): transformed along x alone.
  bool has_row_spectra() const { return has_row_spectra_; }

  /// images() = the shifted probes that `chunk` sees, unless they are there already.
  void shift_probes(const device::Device& exec, const Chunk& chunk);
  /// Whether the fused gradient of `chunk` rather shifts the probe itself: what it reads, and where
  /// it sums, in place of images() and sums().
  bool shifts_on_chip(const Chunk& chunk, const ObjectView& object) const {
    return chip_shifts_.pay(chunk, object);
  }
  hot_path::ShiftsOnChip shift_on_chip(const device::Device& exec, const Chunk& chunk);
  /// With own_probes: what the fused gradient knows of them, and where it adds up what
  /// `take_slopes` needs of those that are `fitted`.
  hot_path::OwnProbes own_probes_on_chip(const device::Device& exec,
                                         const FittedParameters& fitted) const;
  const ChipShifts& chip_shifts() const { return chip_shifts_; }
  /// (slot, n_modes, h, w); the probe itself, the same for all, without sub-pixel positions.
  ChunkImages images() const;
  complex* probes() const { return has_slots_ ? seen_->slots.data() : seen_->probe.data(); }
  /// Of the same shape: where conj(object_j) waves_jm of the positions of a slot is summed; zero
  /// when its first chunk begins. `probe_sum` itself without sub-pixel positions.
  ChunkImages sums(const ProbeView& probe_sum) const;
  complex* sums_data(const ProbeView& probe_sum) const {
    return has_slots_ ? slot_sums_.data() : probe_sum.data();
  }
  /// With own_probes: the sums start anew.
  void clear_sums(const device::Device& exec) const { device::set_zero(exec, slot_sums_); }
  /// After the last chunk that shares its slots: probe_sum += their sums, which become zero. With
  /// slots probe_sum is a spectrum. With own_probes the sums become spectra, for `add_slopes`; a
  /// probe_sum without data stays.
  void gather(const device::Device& exec, const Chunk& chunk, const ProbeView& probe_sum);
  /// probe_sum: from a spectrum to a probe, after all ranks' sum.
  void finish(const device::Device& exec, const ProbeView& probe_sum) const;

  /// slopes.at_position += those of `fitted`, from the slots' sums of `chunk` as `gather` leaves
  /// their spectra. With own_probes alone.
  void add_slopes(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                  const FittedParameters& fitted, const ParameterSlopes& slopes) const;
  /// The last part of it, when the sums of the chunk's beams are there.
  void take_slopes(const device::Device& exec, const Chunk& chunk, const FittedParameters& fitted,
                   const ParameterSlopes& slopes) const;

  bool has_slots() const { return has_slots_; }
  const SlotRamps& ramps() const { return ramps_; }
  /// Shifts of a probe per position whose waves were made, the mean so far: 1, less where positions
  /// share slots.
  double shifts_per_position() const {
    return positions_seen_ > 0 ? slots_made_ / positions_seen_ : 0;
  }

 private:
  int n_slots(const Chunk& chunk) const;
  Windows windows(const Chunk& chunk) const;
  BeamMixture mixture(const Chunk& chunk) const;
  void make_ramps(const device::Device& exec, const Chunk& chunk) const;
  void add_up_spectra(const device::Device& exec, const Chunk& chunk) const;
  void add_up_moves(const device::Device& exec, const ObjectView& object, const Chunk& chunk) const;

  const ScanTile& scan_;
  Parameters parameters_;
  ModelOptions options_;
  bool has_slots_;
  bool has_row_spectra_;
  ChipShifts chip_shifts_;
  const fft::Plan& plan_;
  std::unique_ptr<SharedShifts> shared_;  ///< none: row spectra, or own_probes
  ShiftedProbe own_;                      ///< of a probe that was set alone
  ShiftedProbe* seen_ = &own_;
  WavesView slot_sums_;
  SlotRamps ramps_;
  // What a chunk's beams add up, with own_probes.
  device::DeviceView<double* [4]> of_spectrum_;
  device::DeviceView<double* [2]> of_opr_;
  device::DeviceView<double* [2]> moves_;
  device::DeviceView<double* [2]> of_object_;
  int seen_from_ = -1;  ///< the chunk seen last with this probe begins here
  double slots_made_ = 0;
  double positions_seen_ = 0;
};

}  // namespace tessera::physics
