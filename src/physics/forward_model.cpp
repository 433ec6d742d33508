#include "tessera/physics/forward_model.hpp"

#include "tessera/device/stream.hpp"

#include "forward_kernels.hpp"

namespace tessera::physics {

using device::add_terms;
using device::Device;
using device::for_each_pixel;
using device::for_each_row_pixel;

namespace {

Windows windows_of(const ScanTile& scan, const Chunk& chunk, int object_w) {
  return {scan.order, scan.corner, scan.slot, chunk.begin, object_w};
}

/// One image a mode, the same for every position and slot.
ChunkImages common_images(const ProbeView& view) {
  const auto w = static_cast<int>(view.extent(2));
  return {view.data(), 0, static_cast<std::int64_t>(view.extent(1)) * w, w};
}

/// By position or by slot.
ChunkImages images_of(const WavesView& view) {
  const auto w = static_cast<int>(view.extent(3));
  const std::int64_t area = static_cast<std::int64_t>(view.extent(2)) * w;
  return {view.data(), area * static_cast<std::int64_t>(view.extent(1)), area, w};
}

}  // namespace

ForwardModel::ForwardModel(const ScanTile& scan, int n_modes, int chunk_size, int max_slots,
                           bool fixed_order, fft::Planning planning)
    : scan_(scan),
      n_modes_(n_modes),
      chunk_size_(chunk_size),
      max_slots_(max_slots),
      fixed_order_(fixed_order || device::device_is_host),
      fused_(!fixed_order_ && sizeof(Real) == sizeof(float) && scan.window.h == scan.window.w &&
             hot_path::supports(scan.window.w, n_modes)),
      plan_(scan.window, planning),
      waves_("tessera::physics::waves", chunk_size, n_modes, scan.window.h, scan.window.w) {
  if (!scan.has_subpixel) return;
  const auto [h, w] = scan.window;
  spectrum_ = ProbeView("tessera::physics::probe_spectrum", n_modes, h, w);
  slot_probes_ = WavesView("tessera::physics::slot_probes", max_slots, n_modes, h, w);
  slot_sums_ = WavesView("tessera::physics::slot_sums", max_slots, n_modes, h, w);
  ramp_y_ = DeviceView<complex**>("tessera::physics::ramp_y", max_slots, h);
  ramp_x_ = DeviceView<complex**>("tessera::physics::ramp_x", max_slots, w);
}

void ForwardModel::set_probe(const Device& exec, const ProbeView& probe) {
  probe_ = probe;
  forget_slots();
  if (!scan_.has_subpixel) return;
  Kokkos::deep_copy(exec, spectrum_, probe);
  if (fused_) {
    hot_path::transform_rows(device::stream_handle(exec), scan_.window.w, n_modes_, true,
                             plain(spectrum_.data()));
    return;
  }
  plan_.forward(exec, spectrum_.data(), n_modes_);
}

void ForwardModel::update_probe(const Device& exec, const ProbeUpdate& update) {
  const device::Region region("tessera::physics::fused_probe_update");
  forget_slots();
  hot_path::update_probe(device::stream_handle(exec),
                         {.n = scan_.window.w,
                          .n_modes = n_modes_,
                          .step = plain(update.step),
                          .alpha = static_cast<float>(update.alpha),
                          .probe_sum = plain(update.probe_sum.data()),
                          .overlap = plain(update.overlap.data()),
                          .probe = plain(probe_.data()),
                          .row_spectrum = plain(spectrum_.data()),
                          .greatest_overlap = plain(update.greatest_overlap.data()),
                          .greatest_power = plain(update.greatest_power.data())});
}

/// Only where fused_, hence of floats.
hot_path::Slots ForwardModel::fused_slots(const Chunk& chunk) const {
  const Real* shift = scan_.slot_shift.data() + 2 * static_cast<std::int64_t>(chunk.first_slot);
  return {scan_.window.w, n_modes_, chunk.n_slots, plain(shift)};
}

ChunkImages ForwardModel::probe_images() const {
  return scan_.has_subpixel ? images_of(slot_probes_) : common_images(probe_);
}

complex* ForwardModel::slot_probes() const {
  return scan_.has_subpixel ? slot_probes_.data() : probe_.data();
}

complex* ForwardModel::slot_sums(const ProbeView& probe_sum) const {
  return scan_.has_subpixel ? slot_sums_.data() : probe_sum.data();
}

double ForwardModel::transforms_per_position() const {
  return positions_seen_ > 0 ? 2 + 2 * slots_made_ / positions_seen_ : 2;
}

void ForwardModel::shift_probes(const Device& exec, const Chunk& chunk) {
  positions_seen_ += chunk.count;
  if (!scan_.has_subpixel || chunk.first_slot == first_slot_) return;
  first_slot_ = chunk.first_slot;
  slots_made_ += chunk.n_slots;
  if (fused_) {
    const device::Region region("tessera::physics::fused_shift");
    hot_path::shift_probes(device::stream_handle(exec), fused_slots(chunk), plain(spectrum_.data()),
                           plain(slot_probes_.data()));
    return;
  }
  for_each_pixel(exec, "tessera::physics::shift_ramps", 1,
                 {chunk.n_slots, scan_.window.h + scan_.window.w},
                 ShiftRamps{scan_.slot_shift, ramp_y_, ramp_x_, scan_.window, first_slot_});
  const Real scale = plan_.unitary_scale() * plan_.unitary_scale();
  for_each_row_pixel(exec, "tessera::physics::shift_spectrum", chunk.n_slots * n_modes_,
                     scan_.window,
                     ShiftSpectrum{common_images(spectrum_), images_of(slot_probes_), ramp_y_,
                                   ramp_x_, n_modes_, scale});
  plan_.inverse(exec, slot_probes_.data(), chunk.n_slots * n_modes_);
}

void ForwardModel::forward(const Device& exec, const ObjectView& object, const Chunk& chunk) {
  exit_waves(exec, object, chunk, plan_.unitary_scale());
  to_detector(exec, chunk);
}

void ForwardModel::exit_waves(const Device& exec, const ObjectView& object, const Chunk& chunk,
                              Real scale) {
  shift_probes(exec, chunk);
  for_each_row_pixel(exec, "tessera::physics::exit_waves", chunk.count * n_modes_, scan_.window,
                     ExitWaves{windows_of(scan_, chunk, static_cast<int>(object.extent(2))),
                               object.data(), probe_images(), images_of(waves_), n_modes_, scale});
}

void ForwardModel::to_detector(const Device& exec, const Chunk& chunk) {
  plan_.forward(exec, waves_.data(), chunk.count * n_modes_);
}

void ForwardModel::backward(const Device& exec, const Chunk& chunk) {
  plan_.inverse(exec, waves_.data(), chunk.count * n_modes_);
}

void ForwardModel::add_gradients(const Device& exec, const ObjectView& object, const Chunk& chunk,
                                 const GradientSums& sums, bool with_probe, Real scale) {
  add_object_gradient(exec, chunk, sums, scale);
  if (with_probe) add_probe_gradient(exec, object, chunk, sums, scale);
}

void ForwardModel::add_object_gradient(const Device& exec, const Chunk& chunk,
                                       const GradientSums& sums, Real scale) const {
  const char* label = "tessera::physics::object_gradient";
  const Windows windows = windows_of(scan_, chunk, static_cast<int>(sums.object.extent(2)));
  with_known_modes(n_modes_, [&](auto known) {
    if (!fixed_order_) {
      for_each_row_pixel(exec, label, chunk.count, scan_.window,
                         ObjectGradient<known, true>{windows, images_of(waves_), probe_images(),
                                                     sums.object.data(), sums.illumination.data(),
                                                     n_modes_, scale, 0});
      return;
    }
    // One window after another: no two threads meet in a pixel, and the sum's order is the chunk's.
    for (int j = 0; j < chunk.count; ++j)
      for_each_row_pixel(exec, label, 1, scan_.window,
                         ObjectGradient<known, false>{windows, images_of(waves_), probe_images(),
                                                      sums.object.data(), sums.illumination.data(),
                                                      n_modes_, scale, j});
  });
}

void ForwardModel::add_probe_gradient(const Device& exec, const ObjectView& object,
                                      const Chunk& chunk, const GradientSums& sums, Real scale) {
  const Windows windows = windows_of(scan_, chunk, static_cast<int>(object.extent(2)));
  add_terms(exec, "tessera::physics::overlap", 1, scan_.window,
            Overlap{windows, object.data(), sums.overlap.data(), scan_.window.w, chunk.count});
  const ChunkImages slot_sums =
      scan_.has_subpixel ? images_of(slot_sums_) : common_images(sums.probe);
  const int n_seen = chunk.seen_end - chunk.seen_begin;
  add_terms(exec, "tessera::physics::slot_gradient", n_seen * n_modes_, scan_.window,
            SlotGradient{windows, object.data(), images_of(waves_), slot_sums, n_modes_, scale,
                         chunk.seen_begin, chunk.count});
  if (chunk.ends_slots) gather_slots(exec, chunk, sums.probe);
}

void ForwardModel::gather_slots(const Device& exec, const Chunk& chunk,
                                const ProbeView& probe_sum) {
  if (!scan_.has_subpixel) return;
  if (fused_) {
    const device::Region region("tessera::physics::fused_gather");
    hot_path::gather_slot_sums(device::stream_handle(exec), fused_slots(chunk),
                               plain(slot_sums_.data()), plain(probe_sum.data()));
    return;
  }
  plan_.forward(exec, slot_sums_.data(), chunk.n_slots * n_modes_);
  add_terms(exec, "tessera::physics::gather_slots", n_modes_, scan_.window,
            GatherSlots{images_of(slot_sums_), common_images(probe_sum), ramp_y_, ramp_x_,
                        chunk.n_slots});
}

void ForwardModel::finish_probe_gradient(const Device& exec, const ProbeView& probe_sum) const {
  if (!scan_.has_subpixel) return;
  if (fused_) {
    hot_path::transform_rows(device::stream_handle(exec), scan_.window.w, n_modes_, false,
                             plain(probe_sum.data()));
  } else {
    plan_.inverse(exec, probe_sum.data(), n_modes_);
  }
  const Real scale = plan_.unitary_scale() * plan_.unitary_scale();
  for_each_pixel(
      exec, "tessera::physics::probe_gradient_scale", n_modes_, scan_.window,
      KOKKOS_LAMBDA(const int m, const int y, const int x) { probe_sum(m, y, x) *= scale; });
}

}  // namespace tessera::physics
