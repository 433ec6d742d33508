#include "tessera/physics/gradient_pass.hpp"

#include "tessera/device/stream.hpp"

#include "fused_arguments.hpp"

namespace tessera::physics {

void GradientPass::add(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                       const GradientSums& sums, bool with_probe) {
  if (model_.fused())
    return add_and_keep(exec, object, chunk, sums, with_probe, model_.waves().data());
  find_changes(exec, object, chunk);
  model_.add_gradients(exec, object, chunk, sums, with_probe);
}

void GradientPass::find_changes(const device::Device& exec, const ObjectView& object,
                                const Chunk& chunk) {
  model_.forward(exec, object, chunk);
  amplitude_.replace_by_residual(exec, model_, chunk);
  model_.backward(exec, chunk);
}

void GradientPass::add_and_keep(const device::Device& exec, const ObjectView& object,
                                const Chunk& chunk, const GradientSums& sums, bool with_probe,
                                device::complex* row_spectra) {
  const ChunkPatterns patterns = model_.scan().patterns->at(exec, chunk);
  Illumination& illumination = model_.illumination();
  illumination.shift_probes(exec, chunk);
  if (model_.options().own_probes) illumination.clear_sums(exec);
  {
    const device::Region region("tessera::physics::fused_gradient");
    hot_path::Chunk fused = fused_chunk(model_, object, chunk, sums, with_probe);
    fused.patterns_packed = patterns.packed;
    fused.sums = amplitude_.sums().data();
    if (model_.fitted().any_at_position())
      fused.slot_sums = plain(illumination.sums_data(sums.probe));
    hot_path::add_gradients(device::stream_handle(exec), fused_scan(model_, patterns.values), fused,
                            plain(row_spectra));
  }
  model_.take_slot_sums(exec, object, chunk, sums, with_probe, model_.fitted());
}

}  // namespace tessera::physics
