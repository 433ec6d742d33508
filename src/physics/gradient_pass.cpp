#include "tessera/physics/gradient_pass.hpp"

#include <array>

#include "tessera/device/stream.hpp"
#include "tessera/physics/pattern_store.hpp"

#include "chunk_kernels.hpp"

namespace tessera::physics {
namespace {

hot_path::Counts type_of(const Patterns& patterns) {
  constexpr std::array types{hot_path::Counts::u8, hot_path::Counts::u16, hot_path::Counts::u32,
                             hot_path::Counts::f32};
  return types[patterns.index()];
}

const void* data_of(const Patterns& patterns) {
  return std::visit([](const auto& view) -> const void* { return view.data(); }, patterns);
}

}  // namespace

void GradientPass::add(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                       const GradientSums& sums, bool with_probe) {
  if (model_.fused()) return add_fused(exec, object, chunk, sums, with_probe);
  find_changes(exec, object, chunk);
  model_.add_gradients(exec, object, chunk, sums, with_probe);
}

void GradientPass::find_changes(const device::Device& exec, const ObjectView& object,
                                const Chunk& chunk) {
  model_.forward(exec, object, chunk);
  amplitude_.replace_by_residual(exec, model_, chunk);
  model_.backward(exec, chunk);
}

void GradientPass::add_fused(const device::Device& exec, const ObjectView& object,
                             const Chunk& chunk, const GradientSums& sums, bool with_probe) {
  const ScanTile& scan = model_.scan();
  const ChunkPatterns patterns = scan.patterns->at(exec, chunk);
  Illumination& illumination = model_.illumination();
  illumination.shift_probes(exec, chunk);
  const device::Region region("tessera::physics::fused_gradient");
  hot_path::add_gradients(
      device::stream_handle(exec),
      {.n = scan.window.w,
       .n_modes = model_.n_modes(),
       .counts = type_of(patterns.values),
       .patterns = data_of(patterns.values),
       .valid = plain(scan.valid_pixels.data()),
       .order = scan.order.data(),
       .corner = scan.corner.data(),
       .slot = scan.slot.data()},
      {.begin = chunk.begin,
       .count = chunk.count,
       .patterns_packed = patterns.packed,
       .scale = static_cast<float>(model_.unitary_scale()),
       .object = plain(object.data()),
       .object_width = static_cast<std::int64_t>(object.extent(2)),
       .probes = plain(illumination.probes()),
       .object_sum = plain(sums.object.data()),
       .illumination = plain(sums.illumination.data()),
       .slot_sums = with_probe ? plain(illumination.sums_data(sums.probe)) : nullptr,
       .overlap = with_probe ? plain(sums.overlap.data()) : nullptr,
       .sums = amplitude_.sums().data()},
      plain(model_.waves().data()));
  if (with_probe && chunk.ends_slots) illumination.gather(exec, chunk, sums.probe);
}

}  // namespace tessera::physics
