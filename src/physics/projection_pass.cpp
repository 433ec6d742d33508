#include "physics/projection_pass.hpp"

#include "tessera/base/error.hpp"
#include "tessera/device/stream.hpp"
#include "tessera/physics/pattern_store.hpp"

#include "fused_arguments.hpp"
#include "kernel_choice.hpp"
#include "projection_kernels.hpp"

namespace tessera::physics {

using device::Device;

namespace {

/// Room for what `model` computes of each of the rank's positions.
WavesView waves_of_positions(const ForwardModel& model) {
  const WavesView& of_chunk = model.waves();
  return WavesView("tessera::physics::stored_waves", model.scan().order.extent(0),
                   of_chunk.extent(1), of_chunk.extent(2), of_chunk.extent(3));
}

/// What is kept for P_O's waves to be r, of these.
Real first_kept(const LinearMap& map) {
  return map.of_kept == 0 ? 1 : (1 - map.of_overlap) / map.of_kept;
}

/// |waves|^2, row by row of a position's.
struct SquaredNorm {
  const Real* waves;
  Shape2 rows;  ///< reals of a position
  struct Row {
    const Real* wave;
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const { sum[0] += wave[x] * wave[x]; }
  };
  KOKKOS_FUNCTION Row row(const int j, const int y) const {
    return {waves + (std::int64_t{j} * rows.h + y) * rows.w};
  }
};

}  // namespace

ProjectionPass::ProjectionPass(ForwardModel& model, const LinearMap& map)
    : model_(model),
      map_(map),
      on_chip_(keeps_spectra_on_chip(model.detector().sizes())),
      next_(waves_of_positions(model)),
      kept_(map.keeps_next() ? next_ : waves_of_positions(model)),
      residual_share_("tessera::physics::residual_share", model.chunk_size()),
      distance_("tessera::physics::residual_distance", model.chunk_size()) {
  if (on_chip_) return;
  const Shape2 window = model.scan().window;
  factor_ = DeviceView<Real***>("tessera::physics::residual_factor", model.chunk_size(), window.h,
                                window.w);
}

std::int64_t ProjectionPass::bytes(const Sizes& sizes, const LinearMap& map) {
  const std::int64_t of_factor =
      keeps_spectra_on_chip(sizes) ? 0 : bytes_of<Real>(sizes.window.size());
  return (map.keeps_next() ? 1 : 2) * sizes.n_positions * sizes.waves_bytes() +
         sizes.model.chunk_size * (bytes_of<Real>(1) + bytes_of<double>(1) + of_factor);
}

std::string ProjectionPass::kept_name() const {
  if (on_chip_) return "kept_chip_spectra";
  return model_.kernels() == Kernels::fused ? "kept_row_spectra" : "kept_spectra";
}

template <class F>
void ProjectionPass::visit(const Device& exec, const char* name, const Chunk& chunk, const F& f) {
  const auto n_images = static_cast<int>(model_.waves().extent(1));
  const Shape2 window = model_.scan().window;
  device::for_each_row_pixel(exec, name, chunk.count * n_images, {window.h, 2 * window.w},
                             WithStored<F>{model_.waves(), next_, kept_, residual_share_,
                                           model_.scan().order, chunk.begin, n_images, f});
}

void ProjectionPass::start(const Device& exec, const ObjectView& object, const Chunk& chunk) {
  if (on_chip_) return start_on_chip(exec, object, chunk);
  if (model_.kernels() == Kernels::portable) {
    model_.forward(exec, object, chunk);
  } else {
    model_.illumination().shift_probes(exec, chunk);
    if (chunk.count > 0)
      hot_path::exit_rows(device::stream_handle(exec), fused_scan(model_),
                          fused_chunk(model_, object, chunk, {}, false),
                          plain(model_.waves().data()));
  }
  visit(exec, "tessera::physics::start_kept", chunk, StartKept{first_kept(map_)});
}

void ProjectionPass::start_on_chip(const Device& exec, const ObjectView& object,
                                   const Chunk& chunk) {
  if (const auto n = static_cast<std::int64_t>(object.size()); !hot_path::counts_pixels(n))
    throw InputError("solver.method: one rank holds " + std::to_string(n) +
                     " pixels of the object, and projections on a GPU take fewer than 2^32: start "
                     "more ranks");
  model_.illumination().shift_probes(exec, chunk);
  hot_path::find_spectra(device::stream_handle(exec), fused_scan(model_),
                         fused_chunk(model_, object, chunk, {}, false),
                         static_cast<float>(first_kept(map_)), true, plain(kept_.data()));
}

void ProjectionPass::step(const Device& exec, const ObjectView& object, const Chunk& chunk,
                          double bound, bool stores_next, const GradientSums& sums) {
  if (model_.kernels() == Kernels::fused) {
    project_at_once(exec, object, chunk, bound, stores_next, sums);
    if (!on_chip_) add_at_once(exec, object, chunk, sums, false);
    return;
  }
  project(exec, object, chunk, bound, stores_next);
  model_.add_gradients(exec, object, chunk, sums, false, 1);
}

/// model_.waves() = next.
void ProjectionPass::project(const Device& exec, const ObjectView& object, const Chunk& chunk,
                             double bound, bool stores_next) {
  model_.forward(exec, object, chunk);
  if (model_.detector().compares_waves_alone())
    project_waves(exec, chunk, bound);
  else
    project_by_residuals(exec, chunk, bound);
  model_.backward(exec, chunk);
  if (stores_next && !keeps_next()) visit(exec, "tessera::physics::store_next", chunk, StoreNext{});
}

void ProjectionPass::project_waves(const Device& exec, const Chunk& chunk, double bound) {
  const ScanTile& scan = model_.scan();
  const TrustedPatterns patterns(scan, model_.detector().counts(exec, chunk), chunk);
  const auto project_with = [&](const auto& pixels) {
    const auto kernel = [&](auto part) {
      return Project<part, std::decay_t<decltype(pixels)>>{
          patterns, pixels,          model_.waves(), kept_,
          factor_,  residual_share_, map_,           model_.unitary_scale()};
    };
    const auto move_by = [&](const auto& moving) {
      device::add_pixel_sums<FigureSums::n_sums>(exec, "tessera::physics::project_waves",
                                                 chunk.count, scan.window, moving,
                                                 figures_.scratch(), figures_.sums());
    };
    if (bound > 0)
      device::sum_each_image<1>(exec, "tessera::physics::residual_distance", chunk.count,
                                scan.window, kernel(PartTag<ProjectPart::looks>()), distance_);
    find_residual_shares(exec, chunk.count, bound);
    if (bound > 0)
      move_by(kernel(PartTag<ProjectPart::moves>()));
    else
      move_by(kernel(PartTag<ProjectPart::looks_and_moves>()));
  };
  model_.detector().pixels().with_constant_noise(project_with);
}

/// By any model of the detector.
void ProjectionPass::project_by_residuals(const Device& exec, const Chunk& chunk, double bound) {
  const WavesView& waves = model_.waves();
  model_.detector().measure(exec, waves, chunk, figures_);
  visit(exec, "tessera::physics::reach_modulus", chunk, ReachModulus{map_});
  model_.detector().replace_by_residual(exec, waves, chunk, of_residual_);
  const Shape2 rows{static_cast<int>(waves.extent(1) * waves.extent(2)),
                    2 * static_cast<int>(waves.extent(3))};
  if (bound > 0)
    device::sum_each_image<1>(exec, "tessera::physics::residual_distance", chunk.count, rows,
                              SquaredNorm{device::reals(waves.data()), rows}, distance_);
  find_residual_shares(exec, chunk.count, bound);
  visit(exec, "tessera::physics::leave_modulus", chunk, LeaveModulus{map_, model_.unitary_scale()});
}

void ProjectionPass::find_residual_shares(const Device& exec, int count, double bound) const {
  if (bound == 0) return Kokkos::deep_copy(exec, residual_share_, Real(1));
  Kokkos::parallel_for(device::kernel_name("tessera::physics::residual_shares"),
                       Kokkos::RangePolicy<Device>(exec, 0, count),
                       ShareBeyond{bound, distance_, residual_share_});
}

/// model_.waves() = next, again, from spectra. With the chunk's shifts: of the near field the way
/// back has them.
void ProjectionPass::recall(const Device& exec, const Chunk& chunk) {
  model_.illumination().shift_probes(exec, chunk);
  visit(exec, "tessera::physics::recall", chunk, Recall{model_.unitary_scale()});
  model_.backward(exec, chunk);
}

/// On the chip with what `next` adds to the object's sums.
void ProjectionPass::project_at_once(const Device& exec, const ObjectView& object,
                                     const Chunk& chunk, double bound, bool stores_next,
                                     const GradientSums& sums) {
  const ChunkPatterns patterns = model_.detector().counts(exec, chunk);
  model_.illumination().shift_probes(exec, chunk);
  if (!on_chip_) device::set_zero(exec, distance_);
  const device::Region region("tessera::physics::fused_projection");
  const hot_path::ScanArrays scan = fused_scan(model_, patterns.values);
  hot_path::ChunkArrays fused =
      fused_chunk(model_, object, chunk, on_chip_ ? sums : GradientSums{}, false);
  fused.patterns_packed = patterns.packed;
  fused.sums = figures_.sums().data();
  model_.coverage().take(exec, scan, chunk, fused);
  // Rows add what is stored to the object's sums.
  const bool stores = stores_next || keeps_next() || !on_chip_;
  const hot_path::Projection projection{.overlapping = stores ? plain(next_.data()) : nullptr,
                                        .kept = plain(kept_.data()),
                                        .factor = plain(factor_.data()),
                                        .distance = distance_.data(),
                                        .bound = bound,
                                        .of_overlap = static_cast<float>(map_.of_overlap),
                                        .of_kept = static_cast<float>(map_.of_kept),
                                        .from_overlap = map_.from_overlap,
                                        .of_residual = static_cast<float>(map_.of_residual),
                                        .keeps_new = static_cast<float>(map_.keeps_new),
                                        .keeps_base = static_cast<float>(map_.keeps_base)};
  void* const stream = device::stream_handle(exec);
  if (on_chip_)
    hot_path::project_and_add(stream, scan, fused, projection);
  else
    hot_path::project(stream, scan, fused, projection, plain(model_.waves().data()));
}

void ProjectionPass::add_to_probe(const Device& exec, const ObjectView& object, const Chunk& chunk,
                                  const GradientSums& sums) {
  if (model_.kernels() == Kernels::fused)
    return add_at_once(exec, object, chunk, sums.of_probe(), true);
  if (keeps_next()) recall(exec, chunk);
  model_.add_probe_residual(exec, object, chunk, keeps_next() ? model_.waves() : next_,
                            !keeps_next(), sums);
}

void ProjectionPass::add_at_once(const Device& exec, const ObjectView& object, const Chunk& chunk,
                                 const GradientSums& sums, bool with_probe) {
  model_.illumination().shift_probes(exec, chunk);
  if (model_.options().own_probes) model_.illumination().clear_sums(exec);
  {
    const device::Region region("tessera::physics::fused_kept_gradient");
    const hot_path::ScanArrays scan = fused_scan(model_);
    hot_path::ChunkArrays fused = fused_chunk(model_, object, chunk, sums, with_probe);
    model_.coverage().take(exec, scan, chunk, fused);
    const auto add = on_chip_ ? hot_path::add_kept_spectra : hot_path::add_kept;
    add(device::stream_handle(exec), scan, fused, plain(next_.data()));
  }
  model_.take_slot_sums(exec, object, chunk, sums, with_probe, {});
}

}  // namespace tessera::physics
