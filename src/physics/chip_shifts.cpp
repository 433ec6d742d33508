#include "physics/chip_shifts.hpp"

#include <algorithm>

#include "tessera/device/stream.hpp"

#include "chunk_kernels.hpp"
#include "kernel_choice.hpp"

namespace tessera::physics {

using device::Device;

ChipShifts::ChipShifts(const ScanTile& scan, const Parameters& parameters,
                       const ModelOptions& options, bool possible)
    : scan_(scan),
      parameters_(parameters),
      n_modes_(options.n_modes),
      n_planes_(options.n_modes + options.n_opr_modes),
      own_probes_(options.own_probes),
      possible_(possible) {
  if (!possible) return;
  const auto [h, w] = scan.window;
  spectrum_ = ProbeView("tessera::physics::chip_spectrum", n_planes_, h, w);
  sum_ = ProbeView("tessera::physics::chip_sum", n_planes_, h, w);
  kept_ = device::DeviceView<complex*>("tessera::physics::kept_on_chip",
                                       static_cast<std::size_t>(hot_path::kept_on_chip()));
}

std::int64_t ChipShifts::bytes(const Sizes& sizes) {
  if (!possible(sizes)) return 0;
  return 2 * sizes.probe_bytes() + bytes_of<complex>(hot_path::kept_on_chip());
}

bool ChipShifts::possible(const Sizes& sizes) {
  return sizes.has_slots() && keeps_waves_on_chip(sizes);
}

int ChipShifts::places_worth_a_slot(int n_modes, int window_px) {
  return n_modes > 1 || window_px > 128 ? 3 : 5;
}

bool ChipShifts::has_many(const Chunk& chunk, int n_modes, int window_px) {
  // A batch in several chunks is faster with slots (decision 0018).
  return chunk.count == chunk.n_sharing &&
         chunk.count < places_worth_a_slot(n_modes, window_px) * chunk.n_slots;
}

bool ChipShifts::pay(const Chunk& chunk, const ObjectView& object) const {
  // One that leaves much of the chip idle is, too.
  const int n = scan_.window.w;
  const int enough =
      std::min(hot_path::places_on_chip(n, n_modes_), hot_path::places_worth_the_chip(n, n_modes_));
  if (!possible_ || !hot_path::counts_pixels(object.extent(1) * object.extent(2)) ||
      chunk.count < enough)
    return false;
  return own_probes_ || has_many(chunk, n_modes_, n);
}

hot_path::ShiftsOnChip ChipShifts::prepare(const Device& exec, const Chunk& chunk,
                                           const ProbeView& spectrum) {
  if (!has_spectrum_) {
    const auto to_chip = own_probes_ ? hot_path::planes_to_chip : hot_path::spectrum_to_chip;
    to_chip(device::stream_handle(exec), scan_.window.w, n_planes_, plain(spectrum.data()),
            plain(spectrum_.data()));
  }
  has_spectrum_ = true;
  const Real* const shift =
      own_probes_ ? parameters_.shift.data()
                  : scan_.slot_shift.data() + 2 * static_cast<std::int64_t>(chunk.first_slot);
  return {.shift = plain(shift), .spectrum = plain(spectrum_.data()), .kept = plain(kept_.data())};
}

void ChipShifts::gather(const Device& exec, const ProbeView& probe_sum) const {
  const auto gather = own_probes_ ? hot_path::gather_planes : hot_path::gather_from_chip;
  gather(device::stream_handle(exec), scan_.window.w, n_planes_, plain(sum_.data()),
         plain(probe_sum.data()));
}

}  // namespace tessera::physics
