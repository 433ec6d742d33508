#pragma once
/// What keeps the modes and weights of orthogonal probe relaxation (Odstrcil et al. 2016, Opt.
/// Express 24, 8360) apart from the probe and from one another.

#include <functional>
#include <vector>

#include "tessera/fft/plan.hpp"
#include "tessera/physics/model_options.hpp"
#include "tessera/physics/sizes.hpp"

#include "physics/gradient_sums.hpp"
#include "physics/gram_modes.hpp"
#include "physics/image_mixing.hpp"
#include "physics/mode_products.hpp"

namespace tessera::physics {

class OprModes {
 public:
  using AllReduce = std::function<void(const device::DeviceView<double*>&)>;

  OprModes(const ModelOptions& options, Shape2 window);
  static std::int64_t bytes(const Sizes& sizes);

  /// Over all positions every weight gets mean 0 (the first probe mode takes it) and rms 1 (its OPR
  /// mode takes it), and the OPR modes become orthogonal, sorted by power. No position's probe
  /// changes. Collective through `all_reduce`; waits for the device.
  /// @param probe modes, then OPR modes
  /// @param weight (position, OPR mode), of this rank
  void settle(const device::Device& exec, const ProbeView& probe,
              const device::DeviceView<Real**>& weight, const AllReduce& all_reduce);

 private:
  int n_modes_;
  int n_opr_;
  Shape2 window_;
  device::DeviceView<double*> moments_;  ///< n, sums of weights, sums of their products
  device::HostView<double*> host_moments_;
  ModeProducts products_;
  device::DeviceView<device::complex**> share_;  ///< of modes and OPR modes in one another
  device::HostView<device::complex**> host_share_;
  device::DeviceView<Real**> weight_mixing_;  ///< rows: means, weights from weights
  device::HostView<Real**> host_weight_mixing_;
  GramModes gram_;
  ImageMixing mixing_;
  std::vector<double> rms_;  ///< of the weights
};

/// Every image moved by `shift` pixels, periodically (Fourier shift).
void shift_images(const device::Device& exec, const fft::Plan& plan, const ProbeView& images,
                  Vec2 shift);

}  // namespace tessera::physics
