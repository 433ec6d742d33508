#include "tessera/physics/gradient_pass.hpp"

namespace tessera::physics {

void GradientPass::add(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                       const GradientSums& sums, bool with_probe) {
  model_.forward(exec, object, chunk);
  amplitude_.replace_by_residual(exec, model_, chunk);
  model_.backward(exec, chunk);
  model_.add_object_gradient(exec, chunk, sums.object, sums.illumination);
  if (with_probe) model_.add_probe_gradient(exec, object, chunk, sums.probe, sums.overlap);
}

}  // namespace tessera::physics
