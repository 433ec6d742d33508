// All slots of a chunk at once.

#include "illumination_kernels.hpp"
#include "physics/shared_shifts.hpp"

namespace tessera::physics {

using device::Device;

struct SharedShifts::BackEnd {
  Shape2 window;
  int n_modes;
  const fft::Plan& plan;
};

SharedShifts::SharedShifts(const ScanTile& scan, const ModelOptions& options, const fft::Plan& plan)
    : back_end_(new BackEnd{scan.window, options.n_modes, plan}) {}

SharedShifts::~SharedShifts() = default;

ProbeView SharedShifts::room() const {
  return {};
}

std::int64_t SharedShifts::bytes_of_room(const Sizes&) {
  return 0;
}

std::int64_t SharedShifts::bytes(const Sizes&) {
  return 0;
}

void SharedShifts::make(const Device& exec, const Chunk& chunk, const SlotRamps& ramps,
                        ShiftedProbe& of) const {
  const auto& [window, n_modes, plan] = *back_end_;
  const int n_images = chunk.n_slots * n_modes;
  const Real scale = plan.unitary_scale() * plan.unitary_scale();
  device::for_each_row_pixel(exec, "tessera::physics::shift_spectrum", n_images, window,
                             ShiftSpectrum{common_images(of.spectrum), images_by(n_modes, of.slots),
                                           ramps, n_modes, scale});
  plan.inverse(exec, of.slots.data(), n_images);
}

void SharedShifts::gather(const Device& exec, const Chunk& chunk, const SlotRamps& ramps,
                          const WavesView& slot_sums, const ProbeView& probe_sum) const {
  const auto& [window, n_modes, plan] = *back_end_;
  plan.forward(exec, slot_sums.data(), chunk.n_slots * n_modes);
  device::add_terms(
      exec, "tessera::physics::gather_slots", n_modes, window,
      GatherSlots{images_by(n_modes, slot_sums), common_images(probe_sum), ramps, chunk.n_slots});
}

}  // namespace tessera::physics
