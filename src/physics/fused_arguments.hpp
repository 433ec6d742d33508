#pragma once
/// From the model's views to the plain pointers of the fused kernels.

#include "tessera/physics/pattern_store.hpp"

#include "chunk_kernels.hpp"
#include "physics/forward_model.hpp"
#include "trusted_row.hpp"

namespace tessera::physics {

/// Without patterns: for what only looks at object and probe.
inline hot_path::ScanArrays fused_scan(const ForwardModel& model) {
  const ScanTile& scan = model.scan();
  const Real* intensity = model.parameters().intensity.data();
  const Real* background = model.parameters().background.data();
  return {.n = scan.window.w,
          .n_modes = model.n_modes(),
          .counts = {},
          .patterns = nullptr,
          .valid = plain(scan.valid_pixels.data()),
          .order = scan.order.data(),
          .corner = scan.corner.data(),
          .slot = scan.slot.data(),
          .own_slots = model.options().own_probes,
          .intensity = plain(intensity),
          .saturation = static_cast<float>(scan.saturation),
          .background = plain(background),
          .noise = model.detector().noise(),
          .dark_amplitude = static_cast<float>(model.detector().dark_amplitude())};
}

inline hot_path::ScanArrays fused_scan(const ForwardModel& model, const Patterns& patterns) {
  hot_path::ScanArrays scan = fused_scan(model);
  scan.counts = count_type(patterns);
  scan.patterns = std::visit([](const auto& view) -> const void* { return view.data(); }, patterns);
  return scan;
}

/// The shifted probes that `chunk` sees are there. Views of `sums` without data are not wanted.
inline hot_path::ChunkArrays fused_chunk(ForwardModel& model, const ObjectView& object,
                                         const Chunk& chunk, const GradientSums& sums,
                                         bool with_probe) {
  const Illumination& illumination = model.illumination();
  return {.begin = chunk.begin,
          .count = chunk.count,
          .patterns_packed = false,
          .scale = static_cast<float>(model.unitary_scale()),
          .object = plain(object.data()),
          .object_width = static_cast<std::int64_t>(object.extent(2)),
          .object_height = static_cast<std::int64_t>(object.extent(1)),
          .probes = plain(illumination.probes()),
          .object_sum = plain(sums.object.data()),
          .dose = plain(sums.dose.data()),
          .slot_sums = with_probe ? plain(illumination.sums_data(sums.probe)) : nullptr,
          .overlap = with_probe ? plain(sums.overlap.data()) : nullptr,
          .sums = nullptr,
          .background_slopes =
              model.fitted().background ? plain(model.slopes().background.data()) : nullptr,
          .background_slopes_on_chip = plain(model.slopes().background_on_chip.data())};
}

}  // namespace tessera::physics
