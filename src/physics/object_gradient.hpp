#pragma once
/// One slice's part of the object's sums.

#include "chunk_kernels.hpp"

namespace tessera::physics {

struct SliceWaves {
  Windows windows;
  ChunkImages waves;     ///< chi behind the slice, by beam: (object mode, probe mode)
  ChunkImages incident;  ///< what falls on it: as waves, or by slot: (probe mode)
  bool incident_by_slot;
  int slice;
};

/// sums.object += scale sum_m conj(incident) chi, sums.dose += sum_m |incident|^2 of the
/// slice in every object mode, at every window of the chunk.
void add_object_gradient(const device::Device& exec, const Chunk& chunk, Shape2 window,
                         const ModelOptions& options, const SliceWaves& slice_waves,
                         const GradientSums& sums, Real scale);

}  // namespace tessera::physics
