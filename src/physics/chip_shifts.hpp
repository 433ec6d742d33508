#pragma once
/// The probe shifted to every place of a chunk inside the fused kernel, in place of slots, shared
/// or a place's own: `docs/decisions/0018`.

#include "tessera/device/device.hpp"
#include "tessera/physics/model_options.hpp"
#include "tessera/physics/scan_tile.hpp"
#include "tessera/physics/sizes.hpp"

#include "hot_path.hpp"
#include "physics/gradient_sums.hpp"
#include "physics/parameters.hpp"

namespace tessera::physics {

class ChipShifts {
  using complex = device::complex;

 public:
  /// @param possible whether windows fit on the chip; else nothing is allocated
  ChipShifts(const ScanTile& scan, const Parameters& parameters, const ModelOptions& options,
             bool possible);
  static std::int64_t bytes(const Sizes& sizes);
  static bool possible(const Sizes& sizes);
  bool possible() const { return possible_; }

  /// To make, change and gather a slot takes as long as to shift so many places on the chip
  /// (decision 0018).
  static int places_worth_a_slot(int n_modes, int window_px);
  /// Whether a chunk that fills the chip has more slots than are worth making.
  static bool has_many(const Chunk& chunk, int n_modes, int window_px);
  /// Whether `chunk` is better shifted so than by its slots, which no other shares then.
  bool pay(const Chunk& chunk, const ObjectView& object) const;
  /// What the kernel reads. Makes the probe's spectrum unless it is there.
  /// @param spectrum along x alone, of probes of their own along both axes
  hot_path::ShiftsOnChip prepare(const device::Device& exec, const Chunk& chunk,
                                 const ProbeView& spectrum);
  /// The probe has changed.
  void forget_probe() { has_spectrum_ = false; }

  /// Where the kernel sums for the probe, zero when the first chunk begins.
  complex* sum() const { return sum_.data(); }
  /// probe_sum, of the kind that `prepare` takes, += sum, which becomes zero.
  void gather(const device::Device& exec, const ProbeView& probe_sum) const;

 private:
  const ScanTile& scan_;
  Parameters parameters_;
  int n_modes_;
  int n_planes_;
  bool own_probes_;
  bool possible_;
  ProbeView spectrum_;
  ProbeView sum_;
  device::DeviceView<complex*> kept_;
  bool has_spectrum_ = false;
};

}  // namespace tessera::physics
