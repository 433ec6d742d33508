#include "physics/products_pass.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "tessera/device/stream.hpp"

#include "copy_waves.hpp"
#include "device/sums.hpp"
#include "forward_kernels.hpp"
#include "fused_arguments.hpp"
#include "kernel_choice.hpp"

namespace tessera::physics {

using device::Device;

namespace {

WavesView waves_of_batch(const std::string& name, int n, const WavesView& waves) {
  return WavesView(name, n, waves.extent(1), waves.extent(2), waves.extent(3));
}

/// Positions of a batch whose shifted probes are kept, at most 1 GiB of them.
/// @param bytes of the batch's waves
int places_kept(int max_in_batch, std::int64_t bytes) {
  constexpr std::int64_t room_bytes = std::int64_t{1} << 30;
  return bytes <= room_bytes ? max_in_batch : static_cast<int>(max_in_batch * room_bytes / bytes);
}

/// Whether products take the probe's direction as it is shifted, not by a model of its own.
bool shifts_directions(const Sizes& sizes) {
  return sizes.model.n_slices == 1 || keeps_slices_on_chip(sizes);
}

/// What makes waves, or their row spectra, those whose products are wanted.
struct WaveScales {
  Real directions;
  Real chi;
};

/// Of a position, whose images' rows follow one another.
struct MultiplyWaves {
  const Real* chi;
  const Real* u;
  const Real* v;
  WaveScales scales;
  Shape2 rows;  ///< of one position, real and imaginary parts one after another

  struct Row {
    const Real* chi;
    const Real* u;
    const Real* v;
    WaveScales scales;
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      const Real of_object = u[x] * scales.directions;
      const Real of_probe = v[x] * scales.directions;
      const Real missing = chi[x] * scales.chi;
      sum[NormalEquations::uu] += of_object * of_object;
      sum[NormalEquations::uv] += of_object * of_probe;
      sum[NormalEquations::vv] += of_probe * of_probe;
      sum[NormalEquations::uchi] += of_object * missing;
      sum[NormalEquations::vchi] += of_probe * missing;
    }
  };
  KOKKOS_FUNCTION Row row(const int j, const int y) const {
    const std::int64_t at = (static_cast<std::int64_t>(j) * rows.h + y) * rows.w;
    return {chi + at, u + at, v + at, scales};
  }
};

/// The same where exit waves are made as they are needed.
struct MultiplyDirections {
  ExitWaves u;  ///< P dO; its waves: chi
  ExitWaves v;  ///< dP O
  Real chi_scale;
  int n_images;  ///< of a position
  int h;

  struct Row {
    ExitWaves::Row u;
    ExitWaves::Row v;
    Real chi_scale;
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      const complex of_object = u.at(x);
      const complex of_probe = v.at(x);
      const complex missing = u.wave[x] * chi_scale;
      sum[NormalEquations::uu] += squared_magnitude(of_object);
      sum[NormalEquations::uv] += real_product(of_object, of_probe);
      sum[NormalEquations::vv] += squared_magnitude(of_probe);
      sum[NormalEquations::uchi] += real_product(of_object, missing);
      sum[NormalEquations::vchi] += real_product(of_probe, missing);
    }
  };
  KOKKOS_FUNCTION Row row(const int j, const int row_of_position) const {
    const int image = j * n_images + row_of_position / h;
    const int y = row_of_position % h;
    return {u.row(image, y), v.row(image, y), chi_scale};
  }
};

}  // namespace

ProductsPass::ProductsPass(ForwardModel& model, int max_in_batch)
    : model_(model),
      gradient_(model),
      chi_(waves_of_batch("tessera::physics::chi", max_in_batch, model.waves())),
      products_("tessera::physics::products", max_in_batch) {
  if (model.options().n_slices > 1)
    changes_ = waves_of_batch("tessera::physics::changes", max_in_batch, model.waves());
  if (shifts_directions(model.detector().sizes()))
    direction_ = std::make_unique<Illumination>(model.scan(), model.parameters(), model.options(),
                                                model.plan(), model.kernels());
  if (model.illumination().chip_shifts().possible())
    probes_ =
        waves_of_batch("tessera::physics::kept_probes",
                       places_kept(max_in_batch, bytes_of<complex>(chi_.size())), model.waves());
}

ProductsPass::~ProductsPass() = default;

std::int64_t ProductsPass::bytes(const Sizes& sizes, int max_in_batch) {
  const std::int64_t waves = max_in_batch * sizes.waves_bytes();
  const std::int64_t kept =
      ChipShifts::possible(sizes) ? places_kept(max_in_batch, waves) * sizes.waves_bytes() : 0;
  return waves + kept + (sizes.model.n_slices > 1 ? waves : 0) +
         (shifts_directions(sizes) ? Illumination::bytes(sizes) : 0) +
         bytes_of<double>(max_in_batch * NormalEquations::n);
}

/// Those of `chunk`, whose first position has that place in the batch.
WavesView ProductsPass::waves_at(const WavesView& of_batch, int place, const Chunk& chunk) const {
  const std::size_t of_position = of_batch.extent(1) * of_batch.extent(2) * of_batch.extent(3);
  return WavesView(of_batch.data() + of_position * place, chunk.count, of_batch.extent(1),
                   of_batch.extent(2), of_batch.extent(3));
}

Products ProductsPass::products_at(int place, const Chunk& chunk) const {
  return Products(products_.data() + place * NormalEquations::n, chunk.count);
}

void ProductsPass::add(const Device& exec, const ObjectView& object, const Chunk& chunk,
                       int first_place, const GradientSums& sums, bool with_probe) {
  if (!chunk.sampled) return gradient_.add(exec, object, chunk, sums, with_probe);
  const int place = chunk.begin - first_place;
  const WavesView chi = waves_at(chi_, place, chunk);
  if (stays_on_chip(object, chunk, place))
    gradient_.add_on_chip(exec, object, chunk, sums, with_probe,
                          {waves_at(probes_, place, chunk).data(), chi.data()});
  else if (slices_stay_on_chip(object, chunk))
    gradient_.add_slices_on_chip(exec, object, chunk, sums, with_probe, kept_at(place, chunk));
  else
    gradient_.add_and_keep(exec, object, chunk, sums, with_probe, chi);
}

bool ProductsPass::stays_on_chip(const ObjectView& object, const Chunk& chunk, int place) const {
  return model_.illumination().shifts_on_chip(chunk, object) &&
         place + chunk.count <= static_cast<int>(probes_.extent(0));
}

const Products& ProductsPass::find(const Device& exec, const ObjectView& object,
                                   const Directions& directions, std::span<const Chunk> sampled,
                                   int first_place) {
  if (model_.options().n_slices == 1)
    find_of_thin(exec, object, directions, sampled, first_place);
  else
    find_of_thick(exec, object, directions, sampled, first_place);
  return products_;
}

/// Exit waves of a thin sample are linear in the object, as they are in the probe.
void ProductsPass::find_of_thin(const Device& exec, const ObjectView& object,
                                const Directions& directions, std::span<const Chunk> sampled,
                                int first_place) {
  direction_->set_probe(exec, directions.probe);
  for (const Chunk& chunk : sampled) {
    const int place = chunk.begin - first_place;
    if (stays_on_chip(object, chunk, place)) {
      multiply_on_chip(exec, object, directions, chunk, place);
      continue;
    }
    model_.illumination().shift_probes(exec, chunk);
    direction_->shift_probes(exec, chunk);
    if (model_.kernels() == Kernels::fused)
      multiply_at_once(exec, object, directions, chunk, place);
    else
      multiply(exec, object, directions, chunk, place);
  }
}

void ProductsPass::multiply_on_chip(const Device& exec, const ObjectView& object,
                                    const Directions& directions, const Chunk& chunk, int place) {
  const Products products = products_at(place, chunk);
  device::set_zero(exec, products);
  hot_path::ShiftsOnChip shifts = direction_->shift_on_chip(exec, chunk);
  shifts.kept = plain(waves_at(probes_, place, chunk).data());
  shifts.chi = plain(waves_at(chi_, place, chunk).data());
  const device::Region region("tessera::physics::fused_products");
  const hot_path::ScanArrays scan = fused_scan(model_);
  const hot_path::ChunkArrays fused = fused_chunk(model_, object, chunk, {}, false);
  const hot_path::Directions fused_directions{
      .object = plain(directions.object.data()), .probes = nullptr, .products = products.data()};
  void* const stream = device::stream_handle(exec);
  if (model_.options().own_probes)
    hot_path::add_products_of_own_probes(stream, scan, fused, fused_directions, shifts,
                                         direction_->own_probes_on_chip(exec, {}));
  else
    hot_path::add_products_and_shift(stream, scan, fused, fused_directions, shifts);
}

void ProductsPass::multiply(const Device& exec, const ObjectView& object,
                            const Directions& directions, const Chunk& chunk, int place) {
  const ModelOptions& options = model_.options();
  const Windows windows = windows_of(model_.scan(), options, chunk, object.extent(2));
  const auto plane = static_cast<std::int64_t>(object.extent(1) * object.extent(2));
  const ChunkImages chi = images_by(1, waves_at(chi_, place, chunk));
  const auto exit_waves = [&](const ObjectView& of, const Illumination& by) {
    return ExitWaves{
        windows, of.data(), plane, by.images(), chi, options.n_modes, options.n_object_modes, 1};
  };
  const Shape2 window = model_.scan().window;
  device::sum_each_image<NormalEquations::n>(
      exec, "tessera::physics::normal_equations", chunk.count,
      {options.n_waves() * window.h, window.w},
      MultiplyDirections{exit_waves(directions.object, model_.illumination()),
                         exit_waves(object, *direction_), model_.unitary_scale(), options.n_waves(),
                         window.h},
      products_at(place, chunk));
}

/// In one kernel, of what fused kernels keep.
void ProductsPass::multiply_at_once(const Device& exec, const ObjectView& object,
                                    const Directions& directions, const Chunk& chunk, int place) {
  const Products products = products_at(place, chunk);
  device::set_zero(exec, products);
  const device::Region region("tessera::physics::fused_products");
  hot_path::add_products(device::stream_handle(exec), fused_scan(model_),
                         fused_chunk(model_, object, chunk, {}, false),
                         {.object = plain(directions.object.data()),
                          .probes = plain(direction_->probes()),
                          .products = products.data()},
                         plain(waves_at(chi_, place, chunk).data()));
}

void ProductsPass::find_of_thick(const Device& exec, const ObjectView& object,
                                 const Directions& directions, std::span<const Chunk> sampled,
                                 int first_place) {
  const auto stays = [&](const Chunk& chunk) { return slices_stay_on_chip(object, chunk); };
  const auto place_of = [&](const Chunk& chunk) { return chunk.begin - first_place; };
  if (std::ranges::any_of(sampled, stays)) direction_->set_probe(exec, directions.probe);
  for (const Chunk& chunk : sampled)
    if (stays(chunk))
      multiply_slices_on_chip(exec, object, directions, chunk, place_of(chunk));
    else
      find_object_change(exec, object, directions.moved, chunk, place_of(chunk));
  if (std::ranges::all_of(sampled, stays)) return;
  model_.set_probe(exec, directions.probe);
  for (const Chunk& chunk : sampled)
    if (!stays(chunk)) multiply_changes(exec, object, chunk, place_of(chunk));
}

bool ProductsPass::slices_stay_on_chip(const ObjectView& object, const Chunk& chunk) const {
  const Slices* const slices = model_.fused_slices();
  return slices && hot_path::slices_better_on_chip(fused_scan(model_), slices->fused(), chunk.count,
                                                   static_cast<std::int64_t>(object.size()));
}

hot_path::KeptOfSlices ProductsPass::kept_at(int place, const Chunk& chunk) const {
  return {.exit = plain(waves_at(changes_, place, chunk).data()),
          .chi = plain(waves_at(chi_, place, chunk).data())};
}

void ProductsPass::multiply_slices_on_chip(const Device& exec, const ObjectView& object,
                                           const Directions& directions, const Chunk& chunk,
                                           int place) {
  model_.illumination().shift_probes(exec, chunk);
  direction_->shift_probes(exec, chunk);
  const Products products = products_at(place, chunk);
  device::set_zero(exec, products);
  const device::Region region("tessera::physics::fused_products");
  hot_path::add_products_of_slices(device::stream_handle(exec), fused_scan(model_),
                                   fused_chunk(model_, object, chunk, {}, false),
                                   model_.fused_slices()->fused(),
                                   {.object = plain(directions.moved.data()),
                                    .probes = plain(direction_->probes()),
                                    .products = products.data()},
                                   kept_at(place, chunk));
}

/// Of exit waves of the probe's direction, which is the model's probe now, and what is kept.
void ProductsPass::multiply_changes(const Device& exec, const ObjectView& object,
                                    const Chunk& chunk, int place) {
  // A row spectrum's norm is sqrt(n) that of the row; hot_path.hpp says what else fused kernels
  // leave in them.
  const Real root = std::sqrt(static_cast<Real>(model_.scan().window.w));
  const WaveScales scales =
      model_.fused_slices() ? WaveScales{root, 1 / root} : WaveScales{1, model_.unitary_scale()};
  find_exit_waves(exec, object, chunk);
  const WavesView& waves = model_.waves();
  const Shape2 rows{static_cast<int>(waves.extent(1) * waves.extent(2)),
                    2 * static_cast<int>(waves.extent(3))};
  device::sum_each_image<NormalEquations::n>(
      exec, "tessera::physics::normal_equations", chunk.count, rows,
      MultiplyWaves{device::reals(waves_at(chi_, place, chunk).data()),
                    device::reals(waves_at(changes_, place, chunk).data()),
                    device::reals(waves.data()), scales, rows},
      products_at(place, chunk));
}

/// model_.waves() = exit waves behind the last slice, or their row spectra.
void ProductsPass::find_exit_waves(const Device& exec, const ObjectView& object,
                                   const Chunk& chunk) {
  const Slices* const slices = model_.fused_slices();
  if (!slices) return model_.exit_waves(exec, object, chunk);
  model_.illumination().shift_probes(exec, chunk);
  const device::Region region("tessera::physics::fused_exit_waves");
  hot_path::exit_rows_of_slices(device::stream_handle(exec), fused_scan(model_),
                                fused_chunk(model_, object, chunk, {}, false), slices->fused(),
                                plain(model_.waves().data()));
}

/// changes_ = u.
void ProductsPass::find_object_change(const Device& exec, const ObjectView& object,
                                      const ObjectView& moved, const Chunk& chunk, int place) {
  complex* const change = waves_at(changes_, place, chunk).data();
  find_exit_waves(exec, object, chunk);
  copy_waves<false>(exec, model_.waves(), chunk.count, -1, change);
  find_exit_waves(exec, moved, chunk);
  copy_waves<true>(exec, model_.waves(), chunk.count, 1, change);
}

}  // namespace tessera::physics
