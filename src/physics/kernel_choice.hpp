#pragma once
/// Which kernels take a chunk from object and probe to its sums: decided here and nowhere else.

#include "tessera/decomposition/chunk_layout.hpp"
#include "tessera/physics/sizes.hpp"

namespace tessera::physics {

/// Declared for ForwardModel, which keeps the choice; the passes follow it, and so do their bytes.
enum class Kernels : int {
  portable,  ///< step by step, on any device, of any model
  fused      ///< those of hot_path.hpp
};

/// Fused on a GPU, in single precision, for square windows of a power of two, in no fixed order,
/// for thin samples in the far field and plain detectors.
/// @param sizes of which those of the rank's tile and positions do not matter
Kernels choose_kernels(const Sizes& sizes);

/// Positions of a rank's part of a batch from which on a GPU computes those on the border first and
/// the others while their sums travel (decision 17); 0 on hosts, which always do.
int fewest_divided(Shape2 window, int n_modes, bool on_gpu);

/// Positions of a rank's part of a batch from which on it pays to have a sample of them in chunks
/// of its own: fewer are kernels that wait for one another.
inline int fewest_apart(bool on_gpu) {
  return on_gpu ? 256 : 0;
}

/// Whether fused kernels make the shifted probes that positions share, and gather their sums: of
/// portable models, too.
bool fuses_shifts(const Sizes& sizes);

/// Whether fused kernels take a gradient through further slices; the rest of such a model is
/// portable.
bool fuses_slices(const Sizes& sizes);

/// Whether these kernels keep a gradient's waves on the chip.
bool keeps_waves_on_chip(const Sizes& sizes);

/// Whether they keep those of a thick sample there, through all slices.
bool keeps_slices_on_chip(const Sizes& sizes);

/// In which such a kernel takes the places of a chunk; one where no kernel does.
decomposition::Lanes lanes_on_chip(const Sizes& sizes);

/// Whether they take projections and lines on the chip, and keep spectra.
bool keeps_spectra_on_chip(const Sizes& sizes);

}  // namespace tessera::physics
