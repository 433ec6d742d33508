#include "tessera/physics/fused_projection.hpp"

#include "tessera/device/stream.hpp"

#include "fused_arguments.hpp"

namespace tessera::physics {

using device::Device;

FusedProjection::FusedProjection(ForwardModel& model)
    : model_(model),
      factor_("tessera::physics::residual_factor", model.chunk_size(), model.scan().window.h,
              model.scan().window.w),
      distance_("tessera::physics::residual_distance", model.chunk_size()) {}

std::int64_t FusedProjection::bytes(Shape2 window, int chunk_size) {
  return chunk_size * (window.size() * static_cast<std::int64_t>(sizeof(Real)) +
                       static_cast<std::int64_t>(sizeof(double)));
}

void FusedProjection::overlap_waves(const Device& exec, const ObjectView& object,
                                    const Chunk& chunk) {
  model_.illumination().shift_probes(exec, chunk);
  if (chunk.count == 0) return;
  hot_path::exit_rows(device::stream_handle(exec), fused_scan(model_),
                      fused_chunk(model_, object, chunk, {}, false), plain(model_.waves().data()));
}

void FusedProjection::step(const Device& exec, const ObjectView& object, const Chunk& chunk,
                           const LinearMap& map, double bound, const WavesView& overlapping,
                           const WavesView& kept, AmplitudeModel& running) {
  const ChunkPatterns patterns = model_.scan().patterns->at(exec, chunk);
  model_.illumination().shift_probes(exec, chunk);
  device::set_zero(exec, distance_);
  const device::Region region("tessera::physics::fused_projection");
  hot_path::Chunk fused = fused_chunk(model_, object, chunk, {}, false);
  fused.patterns_packed = patterns.packed;
  fused.sums = running.sums().data();
  hot_path::project(device::stream_handle(exec), fused_scan(model_, patterns.values), fused,
                    {.overlapping = plain(overlapping.data()),
                     .kept = plain(kept.data()),
                     .factor = plain(factor_.data()),
                     .distance = distance_.data(),
                     .bound = bound,
                     .of_overlap = static_cast<float>(map.of_overlap),
                     .of_kept = static_cast<float>(map.of_kept),
                     .from_overlap = map.from_overlap,
                     .of_residual = static_cast<float>(map.of_residual),
                     .keeps_new = static_cast<float>(map.keeps_new),
                     .keeps_base = static_cast<float>(map.keeps_base)},
                    plain(model_.waves().data()));
}

void FusedProjection::add_gradients(const Device& exec, const ObjectView& object,
                                    const Chunk& chunk, const WavesView& overlapping,
                                    const GradientSums& sums, bool with_probe) {
  model_.illumination().shift_probes(exec, chunk);
  if (model_.options().own_probes) model_.illumination().clear_sums(exec);
  {
    const device::Region region("tessera::physics::fused_kept_gradient");
    hot_path::add_kept(device::stream_handle(exec), fused_scan(model_),
                       fused_chunk(model_, object, chunk, sums, with_probe),
                       plain(overlapping.data()));
  }
  model_.take_slot_sums(exec, object, chunk, sums, with_probe, {});
}

}  // namespace tessera::physics
