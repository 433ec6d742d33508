// Slot after slot, along y and then along x.

#include <string>

#include "chunk_kernels.hpp"
#include "fft/line_plan.hpp"
#include "physics/shared_shifts.hpp"

namespace tessera::physics {
namespace {

using device::Device;

/// moved = the spectrum times the factors along y.
struct MoveAlongY {
  ChunkImages spectrum;
  ChunkImages moved;
  const complex* factor;
  Real scale;
  struct Row {
    const complex* spectrum;
    complex* moved;
    complex factor;
    void operator()(const int x) const { moved[x] = spectrum[x] * factor; }
  };
  Row row(const int m, const int y) const {
    return {spectrum.row(0, m, y), moved.row(0, m, y), factor[y] * scale};
  }
};

/// slot = what moved along y times the factors along x.
struct MoveAlongX {
  ChunkImages moved;
  ChunkImages slot;
  const complex* factor;
  struct Row {
    const complex* moved;
    complex* slot;
    const complex* factor;
    void operator()(const int x) const { slot[x] = moved[x] * factor[x]; }
  };
  Row row(const int m, const int y) const {
    return {moved.row(0, m, y), slot.row(0, m, y), factor};
  }
};

/// gathered += the slot's sum times the conjugate factors along x; the sum becomes zero.
struct GatherAlongX {
  ChunkImages slot_sum;
  ChunkImages gathered;
  const complex* factor;
  struct Row {
    complex* slot_sum;
    complex* gathered;
    const complex* factor;
    void operator()(const int x) const {
      gathered[x] += Kokkos::conj(factor[x]) * slot_sum[x];
      slot_sum[x] = complex(0);
    }
  };
  Row row(const int m, const int y) const {
    return {slot_sum.row(0, m, y), gathered.row(0, m, y), factor};
  }
};

/// The same along y.
struct GatherAlongY {
  ChunkImages gathered;
  ChunkImages probe_sum;
  const complex* factor;
  struct Row {
    complex* gathered;
    complex* probe_sum;
    complex factor;
    void operator()(const int x) const {
      probe_sum[x] += factor * gathered[x];
      gathered[x] = complex(0);
    }
  };
  Row row(const int m, const int y) const {
    return {gathered.row(0, m, y), probe_sum.row(0, m, y), Kokkos::conj(factor[y])};
  }
};

ChunkImages image_of(const WavesView& slots, const int slot) {
  ChunkImages images = images_by(static_cast<int>(slots.extent(1)), slots);
  images.data = images.row(slot, 0, 0);
  return images;
}

}  // namespace

struct SharedShifts::BackEnd {
  const ScanTile& scan;
  int n_modes;
  Real scale;
  fft::LinePlan columns;
  fft::LinePlan rows;
  ProbeView gathered;  ///< sums of slots of one shift along y

  ProbeView make_room(const std::string& label) const {
    return ProbeView(label, n_modes, scan.window.h, scan.window.w);
  }
  Real shift_along_y(const int slot) const { return scan.slot_shift(slot, 0); }
};

SharedShifts::SharedShifts(const ScanTile& scan, const ModelOptions& options, const fft::Plan& plan)
    : back_end_(new BackEnd{scan,
                            options.n_modes,
                            plan.unitary_scale() * plan.unitary_scale(),
                            {scan.window, fft::Along::y, options.planning},
                            {scan.window, fft::Along::x, options.planning},
                            {}}) {
  back_end_->gathered = back_end_->make_room("tessera::physics::gathered_sums");
}

SharedShifts::~SharedShifts() = default;

ProbeView SharedShifts::room() const {
  return back_end_->make_room("tessera::physics::moved_probe");
}

std::int64_t SharedShifts::bytes_of_room(const Sizes& sizes) {
  return bytes_of<complex>(sizes.model.n_modes * sizes.window.size());
}

std::int64_t SharedShifts::bytes(const Sizes& sizes) {
  return bytes_of_room(sizes);
}

void SharedShifts::make(const Device& exec, const Chunk& chunk, const SlotRamps& ramps,
                        ShiftedProbe& of) const {
  const BackEnd& steps = *back_end_;
  const Shape2 window = steps.scan.window;
  for (int k = 0; k < chunk.n_slots; ++k) {
    const int slot = chunk.first_slot + k;
    if (of.moved_as < 0 || steps.shift_along_y(slot) != steps.shift_along_y(of.moved_as)) {
      device::for_each_row_pixel(exec, "tessera::physics::move_along_y", steps.n_modes, window,
                                 MoveAlongY{common_images(of.spectrum), common_images(of.moved),
                                            &ramps.y(k, 0), steps.scale});
      steps.columns.inverse(exec, of.moved.data(), steps.n_modes);
      of.moved_as = slot;
    }
    const ChunkImages image = image_of(of.slots, k);
    device::for_each_row_pixel(exec, "tessera::physics::move_along_x", steps.n_modes, window,
                               MoveAlongX{common_images(of.moved), image, &ramps.x(k, 0)});
    steps.rows.inverse(exec, image.data, steps.n_modes);
  }
}

void SharedShifts::gather(const Device& exec, const Chunk& chunk, const SlotRamps& ramps,
                          const WavesView& slot_sums, const ProbeView& probe_sum) const {
  const BackEnd& steps = *back_end_;
  const Shape2 window = steps.scan.window;
  for (int k = 0; k < chunk.n_slots; ++k) {
    const int slot = chunk.first_slot + k;
    const ChunkImages image = image_of(slot_sums, k);
    steps.rows.forward(exec, image.data, steps.n_modes);
    device::for_each_row_pixel(exec, "tessera::physics::gather_along_x", steps.n_modes, window,
                               GatherAlongX{image, common_images(steps.gathered), &ramps.x(k, 0)});
    const bool is_last = k + 1 == chunk.n_slots;
    if (is_last ? !chunk.ends_shift_y : steps.shift_along_y(slot + 1) == steps.shift_along_y(slot))
      continue;
    steps.columns.forward(exec, steps.gathered.data(), steps.n_modes);
    device::for_each_row_pixel(
        exec, "tessera::physics::gather_along_y", steps.n_modes, window,
        GatherAlongY{common_images(steps.gathered), common_images(probe_sum), &ramps.y(k, 0)});
  }
}

}  // namespace tessera::physics
