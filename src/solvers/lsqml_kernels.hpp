#pragma once
/// What Lsqml does to waves, sums and lengths.

#include "tessera/physics/fused_products.hpp"
#include "tessera/physics/inner_product.hpp"
#include "tessera/solvers/batch_sums.hpp"
#include "tessera/solvers/owned_tile.hpp"

namespace tessera::solvers {

using physics::NormalEquations;
using physics::Products;

/// Sum of a, sum of b, number of positions.
inline constexpr int n_length_sums = 3;

/// kept[position of the batch] = scale * waves[position of the chunk]
/// @param first place of the batch's first position in the epoch's order
void keep_waves(const device::Device& exec, const physics::WavesView& waves,
                const physics::Chunk& chunk, int first, Real scale, const physics::WavesView& kept);
/// kept += waves
void add_waves(const device::Device& exec, const physics::WavesView& waves,
               const physics::Chunk& chunk, int first, const physics::WavesView& kept);

/// Owned pixels of sums.object, divided by their weight, are the direction. Zero elsewhere in the
/// touched blocks, where sums.illumination becomes zero.
void weigh_object_sum(const device::Device& exec, const physics::GradientSums& sums,
                      const device::DeviceView<Real>& greatest_power, double alpha,
                      const TouchedBlocks& touched, const OwnedTile& tile);
void weigh_probe_sum(const device::Device& exec, const physics::GradientSums& sums,
                     const device::DeviceView<Real>& greatest_overlap, double alpha);
/// moved = object + direction in the touched blocks.
void add_direction(const device::Device& exec, const physics::ObjectView& object,
                   const physics::ObjectView& direction, const physics::ObjectView& moved,
                   const TouchedBlocks& touched, const OwnedTile& tile);

/// The waves of the chunk's first position in those of the batch.
device::complex* waves_of_chunk(const physics::WavesView& of_batch, const physics::Chunk& chunk,
                                int first);
/// The products of the positions of `chunk` in those of the batch.
Products products_of_chunk(const Products& of_batch, const physics::Chunk& chunk, int first);

/// products = those of chi, u and v = waves, for the positions of `chunk`.
void multiply_waves(const device::Device& exec, const physics::WavesView& chi,
                    const physics::WavesView& u, const physics::WavesView& v,
                    const physics::Chunk& chunk, int first, const Products& products);
/// sums = n_length_sums of them, over the first `n` positions of `products`.
void sum_lengths(const device::Device& exec, const Products& products, int n, double damping,
                 const device::DeviceView<double*>& scratch,
                 const device::DeviceView<double*>& sums);
/// lengths = steps * mean lengths
void set_lengths(const device::Device& exec, const device::DeviceView<double*>& sums,
                 const device::DeviceView<Real[2]>& steps,
                 const device::DeviceView<Real[2]>& lengths);

/// object += lengths(0) sums.object in the touched blocks, ghosts too; sums.object becomes zero.
void move_object(const device::Device& exec, const physics::ObjectView& object,
                 const physics::GradientSums& sums, const device::DeviceView<Real[2]>& lengths,
                 const TouchedBlocks& touched, const OwnedTile& tile);
/// probe += lengths(1) direction
void move_probe(const device::Device& exec, const physics::ProbeView& probe,
                const physics::ProbeView& direction, const device::DeviceView<Real[2]>& lengths);

}  // namespace tessera::solvers
