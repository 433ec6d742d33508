#pragma once
/// Products of small dense matrices by a library: cuBLAS on GPUs, Eigen on hosts.

#include <memory>

#include "tessera/device/device.hpp"

namespace tessera::scaling {

/// Images are rows of n_values each. Nothing waits for the device.
class DenseLibrary {
 public:
  explicit DenseLibrary(const device::Device& exec);
  ~DenseLibrary();

  /// product(a, b) = sum images a conj(images b), in single precision.
  void gram(const device::DeviceView<device::complex**>& images,
            const device::DeviceView<device::complex**>& product) const;
  /// mixed(k) = sum over m of share(k, m) images(m).
  void mix(const device::DeviceView<device::complex**>& share,
           const device::DeviceView<device::complex**>& images,
           const device::DeviceView<device::complex**>& mixed) const;
  /// own(j) = sum over k of weight(j, k) images(k).
  void weigh(const device::DeviceView<Real**>& weight,
             const device::DeviceView<device::complex**>& images,
             const device::DeviceView<device::complex**>& own) const;
  /// images(k) = sum over j of weight(j, k) own(j).
  void weigh_back(const device::DeviceView<Real**>& weight,
                  const device::DeviceView<device::complex**>& own,
                  const device::DeviceView<device::complex**>& images) const;

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace tessera::scaling
