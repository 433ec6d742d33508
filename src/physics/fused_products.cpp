#include "tessera/physics/fused_products.hpp"

#include "tessera/device/stream.hpp"

#include "fused_arguments.hpp"

namespace tessera::physics {

FusedProducts::FusedProducts(ForwardModel& model)
    : model_(model), direction_(model.scan(), model.parameters(), model.options(), model.fused()) {}

void FusedProducts::set_probe_direction(const device::Device& exec, const ProbeView& direction) {
  direction_.set_probe(exec, direction);
}

void FusedProducts::find(const device::Device& exec, const ObjectView& object,
                         const ObjectView& direction, const Chunk& chunk,
                         const device::complex* row_spectra, const Products& products) {
  model_.illumination().shift_probes(exec, chunk);
  direction_.shift_probes(exec, chunk);
  device::set_zero(exec, products);
  const device::Region region("tessera::physics::fused_products");
  hot_path::add_products(device::stream_handle(exec), fused_scan(model_),
                         fused_chunk(model_, object, chunk, {}, false),
                         {.object = plain(direction.data()),
                          .probes = plain(direction_.probes()),
                          .products = products.data()},
                         plain(row_spectra));
}

}  // namespace tessera::physics
