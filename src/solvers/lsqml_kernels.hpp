#pragma once
/// What Lsqml does to sums and lengths.

#include "physics/products_pass.hpp"
#include "solvers/batch_sums.hpp"
#include "solvers/owned_tile.hpp"

namespace tessera::solvers {

using physics::NormalEquations;
using physics::Products;

/// Sum of a, sum of b, number of positions.
inline constexpr int n_length_sums = 3;

/// Owned pixels of sums.object, divided by their weight, are the direction. Zero elsewhere in the
/// touched blocks, where sums.dose becomes zero.
void weigh_object_sum(const device::Device& exec, const physics::GradientSums& sums,
                      const device::DeviceView<Real>& max_power, double alpha,
                      const BlockList& touched, const OwnedTile& tile);
void weigh_probe_sum(const device::Device& exec, const physics::GradientSums& sums,
                     const device::DeviceView<Real>& max_overlap, double alpha);
/// moved = object + direction in the touched blocks.
void add_direction(const device::Device& exec, const physics::ObjectView& object,
                   const physics::ObjectView& direction, const physics::ObjectView& moved,
                   const BlockList& touched, const OwnedTile& tile);

/// Which positions of a batch are in its sample.
struct Sample {
  device::DeviceView<std::uint8_t*> sampled;  ///< by local position; empty: all
  device::DeviceView<int*> order;
  int first_place;

  KOKKOS_FUNCTION bool has(const int j) const {
    return sampled.extent(0) == 0 || sampled(order(first_place + j)) != 0;
  }
};

/// sums = n_length_sums of them, over those of the first `n` positions of `products` that are in
/// the sample.
void sum_lengths(const device::Device& exec, const Products& products, int n, const Sample& sample,
                 double damping, const device::DeviceView<double*>& scratch,
                 const device::DeviceView<double*>& sums);
/// lengths = steps * mean lengths
void set_lengths(const device::Device& exec, const device::DeviceView<double*>& sums,
                 const device::DeviceView<Real[2]>& steps,
                 const device::DeviceView<Real[2]>& lengths);

/// object += lengths(0) sums.object in the touched blocks, ghosts too; sums.object becomes zero.
void move_object(const device::Device& exec, const physics::ObjectView& object,
                 const physics::GradientSums& sums, const device::DeviceView<Real[2]>& lengths,
                 const BlockList& touched, const OwnedTile& tile);
/// probe += lengths(1) direction
void move_probe(const device::Device& exec, const physics::ProbeView& probe,
                const physics::ProbeView& direction, const device::DeviceView<Real[2]>& lengths);

}  // namespace tessera::solvers
