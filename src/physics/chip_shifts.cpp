#include "physics/chip_shifts.hpp"

#include "tessera/device/stream.hpp"

#include "chunk_kernels.hpp"
#include "kernel_choice.hpp"

namespace tessera::physics {

using device::Device;

ChipShifts::ChipShifts(const ScanTile& scan, const ModelOptions& options, bool possible)
    : scan_(scan), n_modes_(options.n_modes), possible_(possible) {
  if (!possible) return;
  const auto [h, w] = scan.window;
  spectrum_ = ProbeView("tessera::physics::chip_spectrum", n_modes_, h, w);
  sum_ = ProbeView("tessera::physics::chip_sum", n_modes_, h, w);
  kept_ = device::DeviceView<complex*>("tessera::physics::kept_on_chip",
                                       static_cast<std::size_t>(hot_path::kept_on_chip()));
}

std::int64_t ChipShifts::bytes(const Sizes& sizes) {
  if (!sizes.has_slots() || sizes.model.own_probes || !keeps_waves_on_chip(sizes)) return 0;
  return 2 * sizes.probe_bytes() + bytes_of<complex>(hot_path::kept_on_chip());
}

bool ChipShifts::pay(const Chunk& chunk, const ObjectView& object) const {
  // To make, change and gather a slot takes as long as to shift so many places on the chip. A batch
  // in several chunks, or one that does not fill the chip, is faster with slots (decision 0018).
  const int places_of_slot = n_modes_ == 1 ? 6 : 3;
  return possible_ && hot_path::counts_pixels(object.extent(1) * object.extent(2)) &&
         chunk.count == chunk.n_sharing && chunk.count < places_of_slot * chunk.n_slots &&
         chunk.count >= hot_path::places_on_chip(scan_.window.w, n_modes_);
}

hot_path::ShiftsOnChip ChipShifts::prepare(const Device& exec, const Chunk& chunk,
                                           const ProbeView& row_spectrum) {
  if (!has_spectrum_)
    hot_path::spectrum_to_chip(device::stream_handle(exec), scan_.window.w, n_modes_,
                               plain(row_spectrum.data()), plain(spectrum_.data()));
  has_spectrum_ = true;
  const Real* shift = scan_.slot_shift.data() + 2 * static_cast<std::int64_t>(chunk.first_slot);
  return {.shift = plain(shift), .spectrum = plain(spectrum_.data()), .kept = plain(kept_.data())};
}

void ChipShifts::gather(const Device& exec, const ProbeView& probe_sum) const {
  hot_path::gather_from_chip(device::stream_handle(exec), scan_.window.w, n_modes_,
                             plain(sum_.data()), plain(probe_sum.data()));
}

}  // namespace tessera::physics
