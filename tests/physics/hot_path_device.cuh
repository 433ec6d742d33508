#pragma once
/// What tests of the fused CUDA kernels share: arrays on the device, distances.

#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "hot_path.hpp"
#include "physics/hot_path_problem.hpp"

namespace tessera::physics::testing {

inline void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

/// A copy in device memory.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& host) : size_(host.size()) {
    check(cudaMalloc(&data_, size_ * sizeof(T)));
    check(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~OnDevice() { cudaFree(data_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  T* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

using hot_path::Complex;

template <class T>
std::vector<T> host(const OnDevice<T>& array) {
  std::vector<T> out(array.size());
  check(cudaMemcpy(out.data(), array.data(), out.size() * sizeof(T), cudaMemcpyDeviceToHost));
  return out;
}

inline std::vector<Complex> filled(std::size_t size, float value) {
  return std::vector<Complex>(size, Complex(value, -value));
}

inline std::vector<Complex> poison(std::size_t size) {
  return filled(size, std::numeric_limits<float>::quiet_NaN());
}

/// |a - b| / |b|; NaN if there is one.
template <class A, class B>
double distance(const std::vector<A>& a, const std::vector<B>& b) {
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += std::norm(B(a[i]) - b[i]);
    size += std::norm(b[i]);
  }
  return std::sqrt(difference / size);
}

/// A problem on the device, and the arguments that name it.
struct OnGpu {
  const Problem& p;
  OnDevice<float> patterns{p.counts};
  OnDevice<float> valid{p.valid};
  OnDevice<int> order{p.order};
  OnDevice<int> corner{p.corner};
  OnDevice<int> slot{p.slot};
  OnDevice<Complex> object{p.object};
  OnDevice<Complex> probes{p.probes};
  OnDevice<double> sums{std::vector<double>(5)};
  OnDevice<float> background{p.background};
  OnDevice<float> slopes_on_chip{std::vector<float>(2 * p.area())};

  hot_path::ScanArrays scan() const {
    return {.n = p.n,
            .n_modes = p.n_modes,
            .counts = hot_path::Counts::f32,
            .patterns = patterns.data(),
            .valid = valid.data(),
            .order = order.data(),
            .corner = corner.data(),
            .slot = slot.data(),
            .saturation = static_cast<float>(p.saturation),
            .background = background.size() > 0 ? background.data() : nullptr,
            .noise = p.noise,
            .dark_amplitude = static_cast<float>(p.dark_amplitude)};
  }
  /// Nothing but FigureSums is wanted.
  hot_path::ChunkArrays chunk(int begin) const {
    return {begin,
            p.n_positions - begin,
            false,
            1.F / static_cast<float>(p.n),
            object.data(),
            p.object_w,
            p.object_h,
            probes.data(),
            nullptr,
            nullptr,
            nullptr,
            nullptr,
            sums.data(),
            nullptr,
            slopes_on_chip.data()};
  }
};

constexpr double tolerance = 2e-5;

class HotPath : public ::testing::Test {
 protected:
  void SetUp() override {
    int n_devices = 0;
    if (cudaGetDeviceCount(&n_devices) == cudaSuccess && n_devices > 0) return;
    const char* required = std::getenv("TESSERA_REQUIRE_GPU");
    if (required && std::string(required) == "1") FAIL() << "no GPU, and TESSERA_REQUIRE_GPU=1";
    GTEST_SKIP() << "no GPU";
  }
};

}  // namespace tessera::physics::testing
