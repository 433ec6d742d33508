#pragma once
/// What the positions of a batch add up for the updates of object and probe.

#include "tessera/device/device.hpp"

namespace tessera::physics {

using ObjectView = device::DeviceView<device::complex***>;  ///< (n_modes * n_slices, H, W), ghosted
using ProbeView = device::DeviceView<device::complex***>;   ///< (n_modes, h, w)
using WavesView =
    device::DeviceView<device::complex****>;  ///< (position of the chunk, n_modes, h, w)

/// All of it zero before the first chunk of a batch.
struct GradientSums {
  ObjectView object;                   ///< sum_jm conj(probe_jm) chi_jm
  device::DeviceView<Real***> dose;    ///< sum_jm |probe_jm|^2
  ProbeView probe;                     ///< sum_j conj(object_j) chi_jm
  device::DeviceView<Real**> overlap;  ///< sum_j |object_j|^2

  /// Without the object's.
  GradientSums of_probe() const { return {{}, {}, probe, overlap}; }
};

}  // namespace tessera::physics
