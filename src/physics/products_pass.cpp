#include "physics/products_pass.hpp"

#include <string>

#include "tessera/device/stream.hpp"

#include "copy_waves.hpp"
#include "device/sums.hpp"
#include "fused_arguments.hpp"
#include "kernel_choice.hpp"

namespace tessera::physics {

using device::Device;

namespace {

WavesView waves_of_batch(const std::string& name, int n, const WavesView& waves) {
  return WavesView(name, n, waves.extent(1), waves.extent(2), waves.extent(3));
}

/// Of a position, real and imaginary parts one after another.
struct MultiplyWaves {
  const Real* chi;
  const Real* u;
  const Real* v;
  Shape2 rows;  ///< of one position

  struct Row {
    const Real* chi;
    const Real* u;
    const Real* v;
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      sum[NormalEquations::uu] += u[x] * u[x];
      sum[NormalEquations::uv] += u[x] * v[x];
      sum[NormalEquations::vv] += v[x] * v[x];
      sum[NormalEquations::uchi] += u[x] * chi[x];
      sum[NormalEquations::vchi] += v[x] * chi[x];
    }
  };
  KOKKOS_FUNCTION Row row(const int j, const int y) const {
    const std::int64_t at = (static_cast<std::int64_t>(j) * rows.h + y) * rows.w;
    return {chi + at, u + at, v + at};
  }
};

}  // namespace

ProductsPass::ProductsPass(ForwardModel& model, int max_in_batch)
    : model_(model),
      gradient_(model),
      chi_(waves_of_batch("tessera::physics::chi", max_in_batch, model.waves())),
      products_("tessera::physics::products", max_in_batch) {
  if (model.kernels() == Kernels::fused)
    direction_ = std::make_unique<Illumination>(model.scan(), model.parameters(), model.options(),
                                                model.plan(), model.kernels());
  else
    changes_ = waves_of_batch("tessera::physics::changes", max_in_batch, model.waves());
}

ProductsPass::~ProductsPass() = default;

std::int64_t ProductsPass::bytes(const Sizes& sizes, int max_in_batch) {
  const std::int64_t waves = max_in_batch * sizes.waves_bytes();
  const std::int64_t other =
      choose_kernels(sizes) == Kernels::fused ? Illumination::bytes(sizes) : waves;
  return waves + other + bytes_of<double>(max_in_batch * NormalEquations::n);
}

complex* ProductsPass::waves_at(const WavesView& of_batch, int place) const {
  return of_batch.data() + model_.scan().window.size() * model_.options().n_waves() * place;
}

Products ProductsPass::products_at(int place, const Chunk& chunk) const {
  return Products(products_.data() + place * NormalEquations::n, chunk.count);
}

void ProductsPass::add(const Device& exec, const ObjectView& object, const Chunk& chunk, int place,
                       const GradientSums& sums, bool with_probe) {
  gradient_.add_and_keep(exec, object, chunk, sums, with_probe, waves_at(chi_, place));
}

const Products& ProductsPass::find(const Device& exec, const ObjectView& object,
                                   const Directions& directions, std::span<const Chunk> chunks) {
  if (direction_) {
    find_at_once(exec, object, directions, chunks);
    return products_;
  }
  find_object_changes(exec, object, directions, chunks);
  model_.set_probe(exec, directions.probe);
  for (const Chunk& chunk : chunks) {
    const int place = chunk.begin - chunks.front().begin;
    model_.exit_waves(exec, object, chunk);
    const WavesView& waves = model_.waves();
    const Shape2 rows{static_cast<int>(waves.extent(1) * waves.extent(2)),
                      2 * static_cast<int>(waves.extent(3))};
    device::sum_each_image<NormalEquations::n>(
        exec, "tessera::physics::normal_equations", chunk.count, rows,
        MultiplyWaves{device::reals(waves_at(chi_, place)),
                      device::reals(waves_at(changes_, place)), device::reals(waves.data()), rows},
        products_at(place, chunk));
  }
  return products_;
}

/// changes_ = u. A thin sample's exit waves are linear in the object.
void ProductsPass::find_object_changes(const Device& exec, const ObjectView& object,
                                       const Directions& directions,
                                       std::span<const Chunk> chunks) {
  for (const Chunk& chunk : chunks) {
    complex* changes = waves_at(changes_, chunk.begin - chunks.front().begin);
    if (model_.options().n_slices == 1) {
      model_.exit_waves(exec, directions.object, chunk);
      copy_waves<false>(exec, model_.waves(), chunk.count, 1, changes);
      continue;
    }
    model_.exit_waves(exec, object, chunk);
    copy_waves<false>(exec, model_.waves(), chunk.count, -1, changes);
    model_.exit_waves(exec, directions.moved, chunk);
    copy_waves<true>(exec, model_.waves(), chunk.count, 1, changes);
  }
}

/// In one kernel a chunk, which reads the waves once.
void ProductsPass::find_at_once(const Device& exec, const ObjectView& object,
                                const Directions& directions, std::span<const Chunk> chunks) {
  direction_->set_probe(exec, directions.probe);
  for (const Chunk& chunk : chunks) {
    const int place = chunk.begin - chunks.front().begin;
    model_.illumination().shift_probes(exec, chunk);
    direction_->shift_probes(exec, chunk);
    const Products products = products_at(place, chunk);
    device::set_zero(exec, products);
    const device::Region region("tessera::physics::fused_products");
    hot_path::add_products(device::stream_handle(exec), fused_scan(model_),
                           fused_chunk(model_, object, chunk, {}, false),
                           {.object = plain(directions.object.data()),
                            .probes = plain(direction_->probes()),
                            .products = products.data()},
                           plain(waves_at(chi_, place)));
  }
}

}  // namespace tessera::physics
