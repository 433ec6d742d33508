#include <cublas_v2.h>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "dense_library.hpp"

namespace tessera::scaling {
namespace {

using device::complex;
using device::DeviceView;

void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw SystemError(text("cuBLAS: ", cublasGetStatusString(status)));
}

cuComplex* as_cublas(complex* values) {
  return reinterpret_cast<cuComplex*>(values);
}

int rows(const auto& view) {
  return static_cast<int>(view.extent(0));
}
int columns(const auto& view) {
  return static_cast<int>(view.extent(1));
}

constexpr cuComplex one{1, 0};
constexpr cuComplex zero{0, 0};
constexpr float real_one = 1;
constexpr float real_zero = 0;

}  // namespace

struct DenseLibrary::Handle {
  cublasHandle_t cublas = nullptr;
};

DenseLibrary::DenseLibrary(const device::Device& exec) : handle_(std::make_unique<Handle>()) {
  check(cublasCreate(&handle_->cublas));
  check(cublasSetStream(handle_->cublas, exec.cuda_stream()));
}

DenseLibrary::~DenseLibrary() {
  cublasDestroy(handle_->cublas);
}

// Rows of C order are columns of cuBLAS, so every product is given transposed.

void DenseLibrary::gram(const DeviceView<complex**>& images,
                        const DeviceView<complex**>& product) const {
  const int n = rows(images);
  const int n_values = columns(images);
  check(cublasCgemm(handle_->cublas, CUBLAS_OP_C, CUBLAS_OP_N, n, n, n_values, &one,
                    as_cublas(images.data()), n_values, as_cublas(images.data()), n_values, &zero,
                    as_cublas(product.data()), n));
}

void DenseLibrary::mix(const DeviceView<complex**>& share, const DeviceView<complex**>& images,
                       const DeviceView<complex**>& mixed) const {
  const int n = rows(images);
  const int n_values = columns(images);
  check(cublasCgemm(handle_->cublas, CUBLAS_OP_N, CUBLAS_OP_N, n_values, n, n, &one,
                    as_cublas(images.data()), n_values, as_cublas(share.data()), n, &zero,
                    as_cublas(mixed.data()), n_values));
}

void DenseLibrary::weigh(const DeviceView<Real**>& weight, const DeviceView<complex**>& images,
                         const DeviceView<complex**>& own) const {
  const int n_reals = 2 * columns(images);
  check(cublasSgemm(handle_->cublas, CUBLAS_OP_N, CUBLAS_OP_N, n_reals, rows(own), rows(images),
                    &real_one, device::reals(images.data()), n_reals, weight.data(), rows(images),
                    &real_zero, device::reals(own.data()), n_reals));
}

void DenseLibrary::weigh_back(const DeviceView<Real**>& weight, const DeviceView<complex**>& own,
                              const DeviceView<complex**>& images) const {
  const int n_reals = 2 * columns(images);
  check(cublasSgemm(handle_->cublas, CUBLAS_OP_N, CUBLAS_OP_T, n_reals, rows(images), rows(own),
                    &real_one, device::reals(own.data()), n_reals, weight.data(), rows(images),
                    &real_zero, device::reals(images.data()), n_reals));
}

}  // namespace tessera::scaling
