#include <Eigen/Core>
#include <complex>

#include "dense_library.hpp"

namespace tessera::scaling {
namespace {

using device::complex;
using device::DeviceView;

template <class Value>
using Matrix = Eigen::Map<Eigen::Matrix<Value, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

Matrix<std::complex<Real>> matrix(const DeviceView<complex**>& view) {
  return {reinterpret_cast<std::complex<Real>*>(view.data()),
          static_cast<Eigen::Index>(view.extent(0)), static_cast<Eigen::Index>(view.extent(1))};
}
/// Complex values as two columns.
Matrix<Real> real_matrix(const DeviceView<complex**>& view) {
  return {device::reals(view.data()), static_cast<Eigen::Index>(view.extent(0)),
          static_cast<Eigen::Index>(2 * view.extent(1))};
}
Matrix<Real> matrix(const DeviceView<Real**>& view) {
  return {view.data(), static_cast<Eigen::Index>(view.extent(0)),
          static_cast<Eigen::Index>(view.extent(1))};
}

}  // namespace

struct DenseLibrary::Handle {};

DenseLibrary::DenseLibrary(const device::Device&) {}
DenseLibrary::~DenseLibrary() = default;

void DenseLibrary::gram(const DeviceView<complex**>& images,
                        const DeviceView<complex**>& product) const {
  matrix(product).transpose().noalias() = matrix(images).conjugate() * matrix(images).transpose();
}

void DenseLibrary::mix(const DeviceView<complex**>& share, const DeviceView<complex**>& images,
                       const DeviceView<complex**>& mixed) const {
  matrix(mixed).noalias() = matrix(share) * matrix(images);
}

void DenseLibrary::weigh(const DeviceView<Real**>& weight, const DeviceView<complex**>& images,
                         const DeviceView<complex**>& own) const {
  real_matrix(own).noalias() = matrix(weight) * real_matrix(images);
}

void DenseLibrary::weigh_back(const DeviceView<Real**>& weight, const DeviceView<complex**>& own,
                              const DeviceView<complex**>& images) const {
  real_matrix(images).noalias() = matrix(weight).transpose() * real_matrix(own);
}

}  // namespace tessera::scaling
