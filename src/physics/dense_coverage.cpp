#include "physics/dense_coverage.hpp"

#include <algorithm>
#include <utility>

#include "tessera/device/stream.hpp"

#include "chunk_kernels.hpp"
#include "kernel_choice.hpp"

namespace tessera::physics {

namespace {

/// Three kernels add them behind their transforms.
bool possible(const Sizes& sizes) {
  return keeps_waves_on_chip(sizes);
}

std::int64_t n_powers(const Sizes& sizes) {
  if (sizes.model.own_probes) return 0;
  const int n_slots = sizes.has_slots() ? sizes.n_slots() : 1;
  return std::min(n_slots, hot_path::most_dense_slots) * sizes.window.size();
}

}  // namespace

DenseCoverage::DenseCoverage(const Sizes& sizes) : own_probes_(sizes.model.own_probes) {
  if (!possible(sizes)) return;
  places_ = device::DeviceView<int*>("tessera::physics::places_by_cell",
                                     hot_path::dense_coverage_places(sizes.n_positions));
  powers_ = device::DeviceView<Real*>("tessera::physics::powers_of_slots", n_powers(sizes));
}

std::int64_t DenseCoverage::bytes(const Sizes& sizes) {
  if (!possible(sizes)) return 0;
  return bytes_of<int>(hot_path::dense_coverage_places(sizes.n_positions)) +
         bytes_of<Real>(n_powers(sizes));
}

void DenseCoverage::take(const device::Device& exec, const hot_path::ScanArrays& scan,
                         const Chunk& chunk, hot_path::ChunkArrays& fused) const {
  if (!places_.data()) return;
  // Probes of positions' own are known to the kernels that shift them.
  const bool has_dose = fused.dose && !own_probes_;
  if (!hot_path::covers_densely(scan.n, fused.object_height, fused.object_width, chunk.n_sharing,
                                has_dose ? chunk.n_slots : 0))
    return;
  hot_path::ChunkArrays batch = fused;
  batch.count = chunk.n_sharing;
  batch.dose = has_dose ? std::exchange(fused.dose, nullptr) : nullptr;
  fused.overlap = nullptr;
  if (!chunk.begins_slots) return;
  hot_path::add_dense_coverage(device::stream_handle(exec), scan, batch, chunk.n_slots,
                               {.places = places_.data(), .powers = plain(powers_.data())});
}

}  // namespace tessera::physics
