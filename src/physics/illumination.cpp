#include "physics/illumination.hpp"

#include "tessera/device/stream.hpp"

#include "beam_slopes.hpp"
#include "kernel_choice.hpp"

namespace tessera::physics {

using device::add_terms;
using device::Device;
using device::for_each_pixel;
using device::for_each_row_pixel;

namespace {

/// What tells the slots of `chunk` from others.
int first_slot_of(const Chunk& chunk, const ModelOptions& options) {
  return options.own_probes ? chunk.begin : chunk.first_slot;
}

/// Of a chunk that shares slots. Only where there are row spectra, hence of floats.
hot_path::Slots fused_slots(const ScanTile& scan, int n_modes, const Chunk& chunk) {
  const Real* shift = scan.slot_shift.data() + 2 * static_cast<std::int64_t>(chunk.first_slot);
  return {scan.window.w, n_modes, chunk.n_slots, plain(shift)};
}

}  // namespace

Illumination::Illumination(const ScanTile& scan, const Parameters& parameters,
                           const ModelOptions& options, const fft::Plan& plan, Kernels kernels)
    : scan_(scan),
      parameters_(parameters),
      options_(options),
      has_slots_(scan.has_subpixel || options.own_probes),
      has_row_spectra_(has_slots_ && !options.own_probes &&
                       fuses_shifts({.model = options, .window = scan.window, .ghosted = {}})),
      chip_shifts_(scan, parameters, options,
                   has_slots_ && kernels == Kernels::fused &&
                       hot_path::fits_on_chip(scan.window.w, options.n_modes)),
      plan_(plan) {
  if (!has_slots_) return;
  const auto [h, w] = scan.window;
  const int n_slots =
      options.own_probes ? options.chunk_size * options.n_sub_positions : options.max_slots;
  own_.spectrum =
      ProbeView("tessera::physics::probe_spectrum", options.n_modes + options.n_opr_modes, h, w);
  own_.slots = WavesView("tessera::physics::slot_probes", n_slots, options.n_modes, h, w);
  slot_sums_ = WavesView("tessera::physics::slot_sums", n_slots, options.n_modes, h, w);
  ramps_ = {DeviceView<complex**>("tessera::physics::ramp_y", n_slots, h),
            DeviceView<complex**>("tessera::physics::ramp_x", n_slots, w)};
  if (!options.own_probes) {
    if (has_row_spectra_) return;
    shared_ = std::make_unique<SharedShifts>(scan, options, plan);
    own_.moved = shared_->room();
    return;
  }
  of_spectrum_ = DeviceView<double* [4]>("tessera::physics::of_spectrum", n_slots);
  of_opr_ = DeviceView<double* [2]>("tessera::physics::of_opr", n_slots * options.n_opr_modes);
  moves_ = DeviceView<double* [2]>("tessera::physics::moves", n_slots);
  of_object_ = DeviceView<double* [2]>("tessera::physics::of_object", n_slots);
}

std::int64_t Illumination::bytes(const Sizes& sizes) {
  if (!sizes.has_slots()) return 0;
  const int n_slots = sizes.n_slots();
  const auto [h, w] = sizes.window;
  const std::int64_t of_own =
      n_slots * (bytes_of<double>(4 + 2 + 2) + bytes_of<double>(2 * sizes.model.n_opr_modes));
  return sizes.probe_bytes() + ChipShifts::bytes(sizes) +
         n_slots * bytes_of<complex>(2 * sizes.model.n_modes * sizes.window.size() + h + w) +
         (sizes.model.own_probes ? of_own
                                 : SharedShifts::bytes(sizes) + SharedShifts::bytes_of_room(sizes));
}

std::int64_t Illumination::bytes_with_slots(const Sizes& sizes) {
  if (!sizes.has_slots()) return 0;
  const int n_slots = sizes.model.own_probes ? 0 : sizes.n_slots();
  return sizes.probe_bytes() + (sizes.model.own_probes ? 0 : SharedShifts::bytes_of_room(sizes)) +
         bytes_of<complex>(n_slots * sizes.model.n_modes * sizes.window.size());
}

int Illumination::n_slots(const Chunk& chunk) const {
  return options_.own_probes ? chunk.count * options_.n_sub_positions : chunk.n_slots;
}

Windows Illumination::windows(const Chunk& chunk) const {
  return windows_of(scan_, options_, chunk, 0);
}

ChunkImages Illumination::images() const {
  return has_slots_ ? images_by(options_.n_modes, seen_->slots) : common_images(seen_->probe);
}

ChunkImages Illumination::sums(const ProbeView& probe_sum) const {
  return has_slots_ ? images_by(options_.n_modes, slot_sums_) : common_images(probe_sum);
}

void Illumination::set_probe(const Device& exec, const ProbeView& probe) {
  own_.probe = probe;
  set_probe(own_);
  transform(exec, own_);
}

ShiftedProbe Illumination::with_slots(const ProbeView& probe) const {
  ShiftedProbe made;
  made.probe = probe;
  if (!has_slots_) return made;
  made.spectrum = ProbeView("tessera::physics::probe_spectrum", own_.spectrum.layout());
  if (shared_) made.moved = shared_->room();
  made.slots = options_.own_probes
                   ? own_.slots
                   : WavesView("tessera::physics::slot_probes", own_.slots.layout());
  return made;
}

void Illumination::set_probe(ShiftedProbe& probe) {
  if (options_.own_probes) probe.forget_slots();
  seen_ = &probe;
  seen_from_ = -1;
  chip_shifts_.forget_probe();
}

void Illumination::transform(const Device& exec, ShiftedProbe& of) const {
  of.forget_slots();
  if (!has_slots_) return;
  const ProbeView& spectrum = of.spectrum;
  Kokkos::deep_copy(exec, spectrum, of.probe);
  if (has_row_spectra_) {
    hot_path::transform_rows(device::stream_handle(exec), scan_.window.w, options_.n_modes, true,
                             plain(spectrum.data()));
    return;
  }
  plan_.forward(exec, spectrum.data(), static_cast<int>(spectrum.extent(0)));
}

void Illumination::shift_probes(const Device& exec, const Chunk& chunk) {
  if (!has_slots_) return;
  if (chunk.begin != seen_from_) positions_seen_ += chunk.count;
  seen_from_ = chunk.begin;
  const int first_slot = first_slot_of(chunk, options_);
  if (first_slot == seen_->first_slot) return;
  seen_->first_slot = first_slot;
  const int count = n_slots(chunk);
  slots_made_ += count;
  if (has_row_spectra_) {
    const device::Region region("tessera::physics::fused_shift");
    hot_path::shift_probes(device::stream_handle(exec), fused_slots(scan_, options_.n_modes, chunk),
                           plain(seen_->spectrum.data()), plain(seen_->slots.data()));
    return;
  }
  make_ramps(exec, chunk);
  if (shared_) return shared_->make(exec, chunk, ramps_, *seen_);
  with_known_opr(options_.n_opr_modes, [&](auto known) {
    for_each_row_pixel(exec, "tessera::physics::shift_beams", count * options_.n_modes,
                       scan_.window,
                       ShiftBeams<known>{mixture(chunk), common_images(seen_->spectrum), images(),
                                         ramps_, plan_.unitary_scale() * plan_.unitary_scale()});
  });
  plan_.inverse(exec, seen_->slots.data(), count * options_.n_modes);
}

hot_path::ShiftsOnChip Illumination::shift_on_chip(const Device& exec, const Chunk& chunk) {
  positions_seen_ += chunk.count;
  slots_made_ += chunk.count;
  return chip_shifts_.prepare(exec, chunk, seen_->spectrum);
}

hot_path::OwnProbes Illumination::own_probes_on_chip(const Device& exec,
                                                     const FittedParameters& fitted) const {
  const auto wanted = [&](bool is_wanted, const auto& sums) -> double* {
    if (!is_wanted) return nullptr;
    device::set_zero(exec, sums);
    return sums.data();
  };
  return {.n_opr = options_.n_opr_modes,
          .opr_weight = plain(parameters_.opr_weight.data()),
          .of_spectrum = wanted(fitted.positions || fitted.intensity, of_spectrum_),
          .of_opr = wanted(fitted.opr, of_opr_),
          .moves = wanted(fitted.positions, moves_),
          .of_object = wanted(fitted.opr || fitted.intensity, of_object_)};
}

void Illumination::make_ramps(const Device& exec, const Chunk& chunk) const {
  const auto shift = options_.own_probes ? parameters_.shift : scan_.slot_shift;
  for_each_pixel(
      exec, "tessera::physics::shift_ramps", 1, {n_slots(chunk), scan_.window.h + scan_.window.w},
      MakeRamps{shift, windows(chunk), ramps_, scan_.window, first_slot_of(chunk, options_)});
}

BeamMixture Illumination::mixture(const Chunk& chunk) const {
  return {windows(chunk), parameters_.opr_weight, parameters_.intensity, options_.n_modes,
          options_.n_opr_modes};
}

void Illumination::gather(const Device& exec, const Chunk& chunk, const ProbeView& probe_sum) {
  if (!has_slots_) return;
  if (has_row_spectra_) {
    const device::Region region("tessera::physics::fused_gather");
    hot_path::gather_slot_sums(device::stream_handle(exec),
                               fused_slots(scan_, options_.n_modes, chunk),
                               plain(slot_sums_.data()), plain(probe_sum.data()));
    return;
  }
  if (shared_) return shared_->gather(exec, chunk, ramps_, slot_sums_, probe_sum);
  const int count = n_slots(chunk);
  plan_.forward(exec, slot_sums_.data(), count * options_.n_modes);
  if (probe_sum.size() == 0) return;
  add_terms(exec, "tessera::physics::gather_beams", static_cast<int>(probe_sum.extent(0)),
            scan_.window,
            GatherBeams{mixture(chunk), sums(probe_sum), common_images(probe_sum), ramps_, count});
}

void Illumination::finish(const Device& exec, const ProbeView& probe_sum) const {
  if (!has_slots_) return;
  const auto n_planes = static_cast<int>(probe_sum.extent(0));
  if (has_row_spectra_) {
    hot_path::transform_rows(device::stream_handle(exec), scan_.window.w, n_planes, false,
                             plain(probe_sum.data()));
  } else {
    plan_.inverse(exec, probe_sum.data(), n_planes);
  }
  const Real scale = plan_.unitary_scale() * plan_.unitary_scale();
  for_each_pixel(
      exec, "tessera::physics::probe_gradient_scale", n_planes, scan_.window,
      KOKKOS_LAMBDA(const int m, const int y, const int x) { probe_sum(m, y, x) *= scale; });
}

void Illumination::add_slopes(const Device& exec, const ObjectView& object, const Chunk& chunk,
                              const FittedParameters& fitted, const ParameterSlopes& slopes) const {
  if (fitted.positions || fitted.intensity) add_up_spectra(exec, chunk);
  if (fitted.opr)
    device::sum_each_image(exec, "tessera::physics::opr_slopes",
                           n_slots(chunk) * options_.n_opr_modes, scan_.window,
                           OprSlopes{mixture(chunk), common_images(seen_->spectrum),
                                     images_by(options_.n_modes, slot_sums_), ramps_},
                           of_opr_);
  if (fitted.positions) add_up_moves(exec, object, chunk);
  if (fitted.opr || fitted.intensity)
    device::sum_each_image(exec, "tessera::physics::object_in_beam", n_slots(chunk),
                           {options_.n_modes * scan_.window.h, scan_.window.w},
                           ObjectInBeam{windows_of(scan_, options_, chunk, object.extent(2)),
                                        images(), object.data(), scan_.window.h},
                           of_object_);
  take_slopes(exec, chunk, fitted, slopes);
}

void Illumination::take_slopes(const Device& exec, const Chunk& chunk,
                               const FittedParameters& fitted,
                               const ParameterSlopes& slopes) const {
  const FittedColumns columns(fitted, static_cast<int>(slopes.at_position.extent(1)));
  Kokkos::parallel_for(
      device::kernel_name("tessera::physics::take_beam_slopes"),
      Kokkos::RangePolicy<Device>(exec, 0, chunk.count),
      TakeBeamSlopes{columns, mixture(chunk), of_spectrum_, of_opr_, moves_, of_object_,
                     slopes.at_position, 1 / static_cast<double>(scan_.window.size())});
}

void Illumination::add_up_spectra(const Device& exec, const Chunk& chunk) const {
  with_known_opr(options_.n_opr_modes, [&](auto known) {
    device::sum_each_image(
        exec, "tessera::physics::spectrum_slopes", n_slots(chunk),
        {options_.n_modes * scan_.window.h, scan_.window.w},
        SpectrumSlopes<known>{mixture(chunk), common_images(seen_->spectrum),
                              images_by(options_.n_modes, slot_sums_), ramps_, scan_.window},
        of_spectrum_);
  });
}

void Illumination::add_up_moves(const Device& exec, const ObjectView& object,
                                const Chunk& chunk) const {
  const Shape2 inner{scan_.window.h - 2, scan_.window.w - 2};
  with_known_modes(options_.n_slices, [&](auto known) {
    device::sum_each_image(
        exec, "tessera::physics::object_moves", n_slots(chunk),
        {options_.n_modes * inner.h, inner.w},
        ObjectMoves<known>{windows_of(scan_, options_, chunk, object.extent(2)), images(),
                           object.data(),
                           static_cast<std::int64_t>(object.extent(1) * object.extent(2)),
                           options_.n_slices, inner.h},
        moves_);
  });
}

}  // namespace tessera::physics
