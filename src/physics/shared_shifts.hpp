#pragma once
/// The shifted probes that positions share, made of the probe's spectrum, and their sums brought
/// back to it.

#include <memory>

#include "tessera/device/device.hpp"
#include "tessera/fft/plan.hpp"
#include "tessera/physics/model_options.hpp"
#include "tessera/physics/scan_tile.hpp"
#include "tessera/physics/sizes.hpp"

#include "physics/gradient_sums.hpp"

namespace tessera::physics {

/// A probe, what its shifted copies are made of, and those that were made last. Without slots it
/// alone.
struct ShiftedProbe {
  ProbeView probe;
  ProbeView spectrum;   ///< unnormalised FFT, or row spectrum
  WavesView slots;      ///< (slot, n_modes, h, w)
  int first_slot = -1;  ///< of these; -1: none
  /// On hosts, where slots share the probe's spectrum: moved along y, its columns transformed back.
  ProbeView moved;
  int moved_as = -1;  ///< as far as this slot; -1: not yet

  /// Its contents, or the slots' shifts, have changed.
  void forget_slots() { first_slot = moved_as = -1; }
};

/// Fourier factors of the shifts of a chunk's slots.
struct SlotRamps {
  device::DeviceView<device::complex**> y;  ///< (slot, h)
  device::DeviceView<device::complex**> x;  ///< (slot, w)
};

/// On devices all slots of a chunk at once. On hosts one after another, in two steps: slots that
/// follow one another differ along x alone as a rule (ChunkLayout sorts by y first), and the first
/// step, along y, is one for all of these. Why: docs/decisions/0010-binned-shifts.md.
class SharedShifts {
 public:
  /// @param plan of the window's shape; lives as long as this
  SharedShifts(const ScanTile& scan, const ModelOptions& options, const fft::Plan& plan);
  ~SharedShifts();
  SharedShifts(const SharedShifts&) = delete;
  SharedShifts& operator=(const SharedShifts&) = delete;

  /// Room for ShiftedProbe::moved.
  ProbeView room() const;
  static std::int64_t bytes_of_room(const Sizes& sizes);
  static std::int64_t bytes(const Sizes& sizes);

  /// of.slots = the probe in the shifts of `chunk`, from its spectrum.
  void make(const device::Device& exec, const Chunk& chunk, const SlotRamps& ramps,
            ShiftedProbe& of) const;
  /// probe_sum += the spectra of the slots' sums, shifted back; these become zero. What slots of
  /// one shift along y have is complete with the last one.
  void gather(const device::Device& exec, const Chunk& chunk, const SlotRamps& ramps,
              const WavesView& slot_sums, const ProbeView& probe_sum) const;

 private:
  struct BackEnd;
  std::unique_ptr<BackEnd> back_end_;
};

}  // namespace tessera::physics
