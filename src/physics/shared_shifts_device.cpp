// All slots of a chunk at once.

#include "chunk_kernels.hpp"
#include "device/sums.hpp"
#include "physics/shared_shifts.hpp"

namespace tessera::physics {

using device::Device;

namespace {

/// The probe's spectrum in the shifts of all slots.
struct ShiftSpectrum {
  ChunkImages spectrum;
  ChunkImages shifted;
  SlotRamps ramps;
  int n_modes;
  Real scale;

  struct Row {
    const complex* spectrum;
    const complex* ramp_x;
    complex* shifted;
    complex factor;
    KOKKOS_FUNCTION void operator()(const int x) const {
      shifted[x] = spectrum[x] * (factor * ramp_x[x]);
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    const int slot = i / n_modes;
    const int m = i - slot * n_modes;
    return {spectrum.row(0, m, y), &ramps.x(slot, 0), shifted.row(slot, m, y),
            ramps.y(slot, y) * scale};
  }
};

/// Adds the spectra of all slots, shifted back by the conjugate ramps, to the probe's sum, and sets
/// them to zero.
struct GatherSlots {
  ChunkImages slot_sums;
  ChunkImages probe_sum;
  SlotRamps ramps;
  int n_slots;

  struct Row {
    complex* spectrum;
    const complex* ramp_x;
    complex factor;
    KOKKOS_FUNCTION complex operator()(const int x) const {
      const complex term = factor * Kokkos::conj(ramp_x[x]) * spectrum[x];
      spectrum[x] = complex(0);
      return term;
    }
  };
  KOKKOS_FUNCTION complex* sums(const int m, const int y) const { return probe_sum.row(0, m, y); }
  KOKKOS_FUNCTION device::TermRange terms(int) const { return {0, n_slots}; }
  KOKKOS_FUNCTION Row row(const int slot, const int m, const int y) const {
    return {slot_sums.row(slot, m, y), &ramps.x(slot, 0), Kokkos::conj(ramps.y(slot, y))};
  }
};

}  // namespace

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
