#pragma once
/// The mutually incoherent modes of a probe.

#include <vector>

#include "tessera/physics/sizes.hpp"

#include "physics/forward_model.hpp"
#include "physics/gram_modes.hpp"
#include "physics/image_mixing.hpp"
#include "physics/mode_products.hpp"

namespace tessera::physics {

/// Mixes the modes by a unitary matrix, which changes no intensity, so that they are orthogonal and
/// ordered by power (Odstrcil et al. 2016, Opt. Express 24, 8360: the modes' Gram matrix is
/// diagonalised).
class ModeOrthogonaliser {
 public:
  static constexpr int max_modes = 32;

  ModeOrthogonaliser(int n_modes, Shape2 window);
  static std::int64_t bytes(const Sizes& sizes) {
    const int n_modes = sizes.model.n_modes;
    return ModeProducts::bytes(n_modes, sizes.window) +
           bytes_of<device::complex>(n_modes * n_modes) + ImageMixing::bytes(n_modes);
  }
  /// The first n_modes images of `probe`; OPR modes lie behind them. Waits for the device, once.
  void orthogonalise(const device::Device& exec, const ProbeView& probe);
  /// Mixes what belongs to the modes by the matrix of the last `orthogonalise`. Does not wait.
  void mix(const device::Device& exec, const ProbeView& modes) const;

 private:
  int n_modes_;
  ModeProducts products_;
  device::DeviceView<device::complex**> share_;  ///< of mode m in the orthogonal mode k
  device::HostView<device::complex**> host_share_;
  GramModes gram_;
  ImageMixing mixing_;
};

/// Power of every mode, photons. Waits for the device.
std::vector<double> mode_powers(const device::Device& exec, const ProbeView& probe);

}  // namespace tessera::physics
