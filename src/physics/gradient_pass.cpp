#include "physics/gradient_pass.hpp"

#include <utility>

#include "tessera/device/stream.hpp"

#include "copy_waves.hpp"
#include "fused_arguments.hpp"
#include "kernel_choice.hpp"

namespace tessera::physics {

using device::Device;

void GradientPass::add(const Device& exec, const ObjectView& object, const Chunk& chunk,
                       const GradientSums& sums, bool with_probe) {
  if (model_.illumination().shifts_on_chip(chunk, object))
    return add_on_chip(exec, object, chunk, sums, with_probe, {});
  complex* const waves = model_.waves().data();
  if (model_.kernels() == Kernels::fused)
    return add_at_once(exec, object, chunk, sums, with_probe, true,
                       [&](void* stream, const auto& scan, const auto& fused) {
                         hot_path::add_gradients(stream, scan, fused, plain(waves));
                       });
  if (model_.fused_slices())
    return add_through_slices(exec, object, chunk, sums, with_probe, nullptr);
  find_chi(exec, object, chunk);
  model_.add_gradients(exec, object, chunk, sums, with_probe);
}

void GradientPass::add_and_keep(const Device& exec, const ObjectView& object, const Chunk& chunk,
                                const GradientSums& sums, bool with_probe, WavesView kept) {
  if (model_.kernels() == Kernels::fused)
    return add_at_once(exec, object, chunk, sums, with_probe, model_.options().own_probes,
                       [&](void* stream, const auto& scan, const auto& fused) {
                         hot_path::add_gradients_and_keep(stream, scan, fused, plain(kept.data()));
                       });
  if (model_.fused_slices())
    return add_through_slices(exec, object, chunk, sums, with_probe, kept.data());
  // Slices, and slopes of a near field's positions, take the waves on.
  const bool stay = model_.options().is_thin_in_far_field();
  if (stay) model_.swap_waves(kept);
  find_chi(exec, object, chunk);
  if (!stay) copy_waves<false>(exec, model_.waves(), chunk.count, 1, kept.data());
  model_.add_gradients(exec, object, chunk, sums, with_probe);
  if (stay) model_.swap_waves(kept);
}

void GradientPass::add_through_slices(const Device& exec, const ObjectView& object,
                                      const Chunk& chunk, const GradientSums& sums, bool with_probe,
                                      complex* kept) {
  add_at_once(exec, object, chunk, sums, with_probe, false,
              [&](void* stream, const auto& scan, const auto& fused) {
                hot_path::add_gradients_of_slices(stream, scan, fused,
                                                  model_.fused_slices()->fused(),
                                                  plain(model_.waves().data()), plain(kept));
              });
}

void GradientPass::add_slices_on_chip(const Device& exec, const ObjectView& object,
                                      const Chunk& chunk, const GradientSums& sums, bool with_probe,
                                      const hot_path::KeptOfSlices& kept) {
  add_at_once(exec, object, chunk, sums, with_probe, false,
              [&](void* stream, const auto& scan, const auto& fused) {
                hot_path::add_gradients_of_slices_on_chip(stream, scan, fused,
                                                          model_.fused_slices()->fused(), kept);
              });
}

/// model_.waves() = chi of `chunk`, divided by unitary_scale() as `backward` leaves it.
void GradientPass::find_chi(const Device& exec, const ObjectView& object, const Chunk& chunk) {
  model_.forward(exec, object, chunk);
  model_.detector().replace_by_residual(exec, model_.waves(), chunk, figures_);
  model_.backward(exec, chunk);
}

void GradientPass::add_on_chip(const Device& exec, const ObjectView& object, const Chunk& chunk,
                               const GradientSums& sums, bool with_probe, const KeptOnChip& kept) {
  wait_for_gathering(exec);
  const ChunkPatterns patterns = model_.detector().counts(exec, chunk);
  Illumination& illumination = model_.illumination();
  hot_path::ShiftsOnChip shifts = illumination.shift_on_chip(exec, chunk);
  if (kept.chi) {
    shifts.kept = plain(kept.probes);
    shifts.chi = plain(kept.chi);
  }
  const device::Region region("tessera::physics::fused_gradient");
  hot_path::ChunkArrays fused = fused_chunk(model_, object, chunk, sums, with_probe);
  fused.patterns_packed = patterns.packed;
  fused.sums = figures_.sums().data();
  if (with_probe) fused.slot_sums = plain(illumination.chip_shifts().sum());
  const hot_path::ScanArrays scan = fused_scan(model_, patterns.values);
  // The dose is that of probes that the kernel alone has.
  float* const dose = std::exchange(fused.dose, nullptr);
  model_.coverage().take(exec, scan, chunk, fused);
  fused.dose = dose;
  if (model_.options().own_probes) {
    const FittedParameters& fitted = model_.fitted();
    hot_path::add_gradients_of_own_probes(device::stream_handle(exec), scan, fused, shifts,
                                          illumination.own_probes_on_chip(exec, fitted));
    if (fitted.any_at_position()) illumination.take_slopes(exec, chunk, fitted, model_.slopes());
  } else {
    hot_path::add_gradients_and_shift(device::stream_handle(exec), scan, fused, shifts);
  }
  if (with_probe) illumination.chip_shifts().gather(gathering(exec), sums.probe);
}

template <class Work>
void GradientPass::add_at_once(const Device& exec, const ObjectView& object, const Chunk& chunk,
                               const GradientSums& sums, bool with_probe, bool may_be_dense,
                               const Work& work) {
  wait_for_gathering(exec);
  const ChunkPatterns patterns = model_.detector().counts(exec, chunk);
  Illumination& illumination = model_.illumination();
  illumination.shift_probes(exec, chunk);
  if (model_.options().own_probes) illumination.clear_sums(exec);
  {
    const device::Region region("tessera::physics::fused_gradient");
    hot_path::ChunkArrays fused = fused_chunk(model_, object, chunk, sums, with_probe);
    fused.patterns_packed = patterns.packed;
    fused.sums = figures_.sums().data();
    if (model_.fitted().any_at_position())
      fused.slot_sums = plain(illumination.sums_data(sums.probe));
    const hot_path::ScanArrays scan = fused_scan(model_, patterns.values);
    if (may_be_dense) model_.coverage().take(exec, scan, chunk, fused);
    work(device::stream_handle(exec), scan, fused);
  }
  // Slopes read the object, which is not to change beside them.
  const FittedParameters& fitted = model_.fitted();
  model_.take_slot_sums(fitted.any_at_position() ? exec : gathering(exec), object, chunk, sums,
                        with_probe, fitted);
}

}  // namespace tessera::physics
