/// Builds without CUDA: the portable kernels do everything.

#include <stdexcept>

#include "hot_path.hpp"

namespace tessera::physics::hot_path {
namespace {

[[noreturn]] void refuse() {
  throw std::logic_error("hot_path: this build has no CUDA; ask hot_path::supports first");
}

}  // namespace

bool supports(int, int) {
  return false;
}
void add_gradients(void*, const ScanArrays&, const ChunkArrays&, Complex*) {
  refuse();
}
bool fits_on_chip(int, int) {
  return false;
}
bool gradients_fit_on_chip(int, int) {
  return false;
}
int places_on_chip(int, int) {
  return 0;
}
int places_worth_the_chip(int, int) {
  return 0;
}
void add_gradients_on_chip(void*, const ScanArrays&, const ChunkArrays&, Complex*) {
  refuse();
}
std::int64_t kept_on_chip() {
  return 0;
}
bool covers_densely(int, std::int64_t, std::int64_t, int, int) {
  return false;
}
std::int64_t dense_coverage_places(std::int64_t) {
  return 0;
}
void add_dense_coverage(void*, const ScanArrays&, const ChunkArrays&, int, const DenseScratch&) {
  refuse();
}
void add_gradients_and_shift(void*, const ScanArrays&, const ChunkArrays&, const ShiftsOnChip&) {
  refuse();
}
void add_gradients_of_own_probes(void*, const ScanArrays&, const ChunkArrays&, const ShiftsOnChip&,
                                 const OwnProbes&) {
  refuse();
}
void add_gradients_and_keep(void*, const ScanArrays&, const ChunkArrays&, Complex*) {
  refuse();
}
void exit_rows(void*, const ScanArrays&, const ChunkArrays&, Complex*) {
  refuse();
}
void detector_columns(void*, const ScanArrays&, const ChunkArrays&, Complex*) {
  refuse();
}
void rows_gradient(void*, const ScanArrays&, const ChunkArrays&, const Complex*) {
  refuse();
}
void add_products(void*, const ScanArrays&, const ChunkArrays&, const Directions&, const Complex*) {
  refuse();
}
void add_products_and_shift(void*, const ScanArrays&, const ChunkArrays&, const Directions&,
                            const ShiftsOnChip&) {
  refuse();
}
void add_products_of_own_probes(void*, const ScanArrays&, const ChunkArrays&, const Directions&,
                                const ShiftsOnChip&, const OwnProbes&) {
  refuse();
}
void project(void*, const ScanArrays&, const ChunkArrays&, const Projection&, Complex*) {
  refuse();
}
void add_kept(void*, const ScanArrays&, const ChunkArrays&, const Complex*) {
  refuse();
}
bool keeps_spectra(int, int) {
  return false;
}
void find_spectra(void*, const ScanArrays&, const ChunkArrays&, float, bool, Complex*) {
  refuse();
}
void project_and_add(void*, const ScanArrays&, const ChunkArrays&, const Projection&) {
  refuse();
}
void add_kept_spectra(void*, const ScanArrays&, const ChunkArrays&, const Complex*) {
  refuse();
}
void add_costs_on_chip(void*, const ScanArrays&, const ChunkArrays&, const WavesOnLine&) {
  refuse();
}
void add_gradients_of_slices(void*, const ScanArrays&, const ChunkArrays&, const SliceArrays&,
                             Complex*, Complex*) {
  refuse();
}
bool slices_better_on_chip(const ScanArrays&, const SliceArrays&, int, std::int64_t) {
  return false;
}
void add_gradients_of_slices_on_chip(void*, const ScanArrays&, const ChunkArrays&,
                                     const SliceArrays&, const KeptOfSlices&) {
  refuse();
}
void add_products_of_slices(void*, const ScanArrays&, const ChunkArrays&, const SliceArrays&,
                            const Directions&, const KeptOfSlices&) {
  refuse();
}
void exit_rows_of_slices(void*, const ScanArrays&, const ChunkArrays&, const SliceArrays&,
                         Complex*) {
  refuse();
}
void add_costs(void*, const ScanArrays&, const ChunkArrays&, const WavesOnLine&) {
  refuse();
}
void transform_rows(void*, int, int, bool, Complex*) {
  refuse();
}
void shift_probes(void*, const Slots&, const Complex*, Complex*) {
  refuse();
}
void gather_slot_sums(void*, const Slots&, Complex*, Complex*) {
  refuse();
}
void spectrum_to_chip(void*, int, int, const Complex*, Complex*) {
  refuse();
}
void planes_to_chip(void*, int, int, const Complex*, Complex*) {
  refuse();
}
void gather_planes(void*, int, int, Complex*, Complex*) {
  refuse();
}
void gather_from_chip(void*, int, int, Complex*, Complex*) {
  refuse();
}
void update_probe(void*, const ProbeUpdate&) {
  refuse();
}

}  // namespace tessera::physics::hot_path
