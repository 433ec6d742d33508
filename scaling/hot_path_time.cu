/// tessera_hot_path_time [window modes chunk slots spread]: milliseconds of the fused CUDA kernels,
/// next to the bare cuFFT transforms of the same waves and one copy of them. Random data, u16.
/// Without arguments: a table. Every row checks that what was added up is finite.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <cufft.h>

#include "hot_path.hpp"
#include "hot_path_window.cuh"

namespace {

using namespace tessera::physics;
using hot_path::Complex;

constexpr int positions_of_epoch = 65536;  ///< that the milliseconds are given for
constexpr int repeats = 5;

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}
void check(cufftResult status) {
  if (status != CUFFT_SUCCESS) throw std::runtime_error("cuFFT error " + std::to_string(status));
}

template <class T>
class OnDevice {
 public:
  explicit OnDevice(std::size_t size) : size_(size) {
    check(cudaMalloc(&data_, size * sizeof(T)));
    check(cudaMemset(data_, 0, size * sizeof(T)));
  }
  explicit OnDevice(const std::vector<T>& host) : OnDevice(host.size()) {
    check(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~OnDevice() { cudaFree(data_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::vector<T> host() const {
    std::vector<T> out(size_);
    check(cudaMemcpy(out.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return out;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

/// Median milliseconds of `work`, by events.
double milliseconds(const std::function<void()>& work) {
  cudaEvent_t begin;
  cudaEvent_t end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  work();
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    check(cudaEventRecord(begin));
    work();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(ms);
  }
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
  std::sort(times.begin(), times.end());
  return times[repeats / 2];
}

struct Case {
  int n;
  int n_modes;
  int chunk;
  int n_slots;
  bool spread;  ///< a chunk's windows all over the object, not side by side
};

/// Positions, windows on a raster of n / 16 pixels, with their data.
class Bench {
 public:
  explicit Bench(const Case& c)
      : c_(c),
        side_(c.n <= 128   ? 128
              : c.n == 256 ? 64
                           : 32),
        step_(c.n / 16),
        width_(side_ * step_ + c.n + 3),
        area_(static_cast<std::size_t>(c.n) * static_cast<std::size_t>(c.n)),
        patterns_(random_counts()),
        valid_(std::vector<float>(area_, 1.F)),
        order_(make_order()),
        corner_(make_corners()),
        slot_(make_slots()),
        object_(random_complex(static_cast<std::size_t>(width_) * width_)),
        probes_(random_complex(static_cast<std::size_t>(c.n_slots * c.n_modes) * area_)),
        object_sum_(object_.size()),
        illumination_(object_.size()),
        slot_sums_(probes_.size()),
        overlap_(area_),
        sums_(5),
        waves_(static_cast<std::size_t>(c.chunk * c.n_modes) * area_) {}

  void run() {
    using namespace hot_path;
    const double whole = milliseconds([&] { every_chunk(add_gradients_and_keep); });
    require_finite();
    const bool on_chip = fits_on_chip(c_.n, c_.n_modes);
    const double one = gradients_fit_on_chip(c_.n, c_.n_modes)
                           ? milliseconds([&] { every_chunk(add_gradients_on_chip); })
                           : 0;
    const auto cover = [](void* s, const ScanArrays& scan, const ChunkArrays& chunk, Complex*) {
      add_coverage(s, scan, chunk);
    };
    const double shifted = on_chip ? time_shifted() : 0;
    const double coverage = on_chip ? milliseconds([&] { every_chunk(cover); }) : 0;
    require_finite();
    const double first = milliseconds([&] { every_chunk(exit_rows); });
    const double second = milliseconds([&] { every_chunk(detector_columns); });
    const double third = milliseconds([&] {
      every_chunk([](void* s, const ScanArrays& scan, const ChunkArrays& chunk, Complex* w) {
        rows_gradient(s, scan, chunk, w);
      });
    });
    check(cudaMemset(waves_.data(), 0, waves_.size() * sizeof(Complex)));
    const double transforms = time_transforms();
    const double copy = time_copy();
    const double scale = static_cast<double>(positions_of_epoch) / n_positions();
    const double pixels = static_cast<double>(n_positions()) * static_cast<double>(area_);
    const double line_flops = 5 * std::log2(c_.n) * c_.n_modes;
    // Per pixel: the least that each kernel reads and writes, and what it computes.
    const double bytes[3] = {16.0 * c_.n_modes + 12, 16.0 * c_.n_modes + 6, 24.0 * c_.n_modes + 16};
    const double flops[3] = {line_flops + 11 * c_.n_modes + 3, 2 * line_flops + 5 * c_.n_modes + 12,
                             line_flops + 18 * c_.n_modes};
    const double ms[3] = {first, second, third};
    std::printf("%4d %5d %5d %5d %7s | %8.2f %6.3f | %8.2f %7.2f |", c_.n, c_.n_modes, c_.chunk,
                c_.n_slots, c_.spread ? "spread" : "compact", whole * scale,
                whole / (transforms + copy), transforms * scale, copy * scale);
    for (int i = 0; i < 3; ++i)
      std::printf(" %7.2f %6.0f %6.0f |", ms[i] * scale, bytes[i] * pixels / ms[i] * 1e-6,
                  flops[i] * pixels / ms[i] * 1e-6);
    std::printf(" %7.2f %7.2f | %7.2f %8.2f %7.2f\n", time_slots() * scale, time_update() * scale,
                one * scale, coverage * scale, shifted * scale);
    std::fflush(stdout);
  }

 private:
  int n_positions() const { return side_ * side_; }

  std::vector<std::uint16_t> random_counts() {
    std::vector<std::uint16_t> counts(static_cast<std::size_t>(n_positions()) * area_);
    constexpr std::size_t n_random = 1 << 20;  // the rest repeats them: quicker
    for (std::size_t i = 0; i < counts.size(); ++i)
      counts[i] = i < n_random ? static_cast<std::uint16_t>(random_() % 64) : counts[i - n_random];
    return counts;
  }
  std::vector<Complex> random_complex(std::size_t size) {
    std::uniform_real_distribution<float> uniform(0.F, 1.F);
    std::vector<Complex> out(size);
    for (auto& value : out) value = {uniform(random_), uniform(random_)};
    return out;
  }
  std::vector<int> make_order() const {
    const int n_chunks = (n_positions() + c_.chunk - 1) / c_.chunk;
    std::vector<int> order;
    for (int chunk = 0; chunk < n_chunks; ++chunk)
      for (int i = 0; i < c_.chunk; ++i) {
        const int position = c_.spread ? i * n_chunks + chunk : chunk * c_.chunk + i;
        if (position < n_positions()) order.push_back(position);
      }
    return order;
  }
  std::vector<int> make_corners() {
    std::vector<int> corners;
    for (int i = 0; i < n_positions(); ++i) {
      corners.push_back(i / side_ * step_ + static_cast<int>(random_() % 3));
      corners.push_back(i % side_ * step_ + static_cast<int>(random_() % 3));
    }
    return corners;
  }
  std::vector<int> make_slots() const {
    std::vector<int> slots;
    for (int k = 0; k < n_positions(); ++k) slots.push_back(k % c_.chunk * c_.n_slots / c_.chunk);
    return slots;
  }

  template <class Kernel>
  void every_chunk(const Kernel& kernel) {
    const hot_path::ScanArrays scan{
        c_.n,          c_.n_modes,    hot_path::Counts::u16, patterns_.data(),
        valid_.data(), order_.data(), corner_.data(),        slot_.data()};
    for (int begin = 0; begin < n_positions(); begin += c_.chunk)
      kernel(nullptr, scan,
             hot_path::ChunkArrays{begin, std::min(c_.chunk, n_positions() - begin), false,
                                   1.F / static_cast<float>(c_.n), object_.data(), width_, width_,
                                   probes_.data(), object_sum_.data(), illumination_.data(),
                                   slot_sums_.data(), overlap_.data(), sums_.data()},
             waves_.data());
  }

  void require_finite() const {
    for (const double sum : sums_.host())
      if (!std::isfinite(sum) || sum == 0) throw std::runtime_error("sums are not finite");
    for (const Complex& sum : object_sum_.host())
      if (!std::isfinite(std::abs(sum))) throw std::runtime_error("object_sum is not finite");
    for (const Complex& sum : slot_sums_.host())
      if (!std::isfinite(std::abs(sum))) throw std::runtime_error("slot_sums is not finite");
  }

  double time_transforms() {
    cufftHandle plan = 0;
    std::size_t work_bytes = 0;
    int size[2] = {c_.n, c_.n};
    const int distance = c_.n * c_.n;
    check(cufftCreate(&plan));
    check(cufftMakePlanMany(plan, 2, size, nullptr, 1, distance, nullptr, 1, distance, CUFFT_C2C,
                            c_.chunk * c_.n_modes, &work_bytes));
    auto* const waves = reinterpret_cast<cufftComplex*>(waves_.data());
    const double ms = milliseconds([&] {
      for (int begin = 0; begin < n_positions(); begin += c_.chunk) {
        check(cufftExecC2C(plan, waves, waves, CUFFT_FORWARD));
        check(cufftExecC2C(plan, waves, waves, CUFFT_INVERSE));
      }
    });
    check(cufftDestroy(plan));
    return ms;
  }

  double time_copy() {
    const OnDevice<Complex> copy(waves_.size());
    return milliseconds([&] {
      for (int begin = 0; begin < n_positions(); begin += c_.chunk)
        check(cudaMemcpyAsync(copy.data(), waves_.data(), waves_.size() * sizeof(Complex),
                              cudaMemcpyDeviceToDevice));
    });
  }

  /// Shifting the probe to every chunk's slots and gathering their sums.
  double time_slots() {
    const OnDevice<Complex> row_spectrum(static_cast<std::size_t>(c_.n_modes) * area_);
    const OnDevice<float> shift(std::vector<float>(2 * c_.n_slots, 0.25F));
    const hot_path::Slots slots{c_.n, c_.n_modes, c_.n_slots, shift.data()};
    return milliseconds([&] {
      for (int begin = 0; begin < n_positions(); begin += c_.chunk) {
        hot_path::shift_probes(nullptr, slots, row_spectrum.data(), probes_.data());
        hot_path::gather_slot_sums(nullptr, slots, slot_sums_.data(), row_spectrum.data());
      }
    });
  }

  /// Gradients with the probe shifted on the chip, and what goes before and after each chunk.
  double time_shifted() {
    const OnDevice<Complex> row_spectrum(
        random_complex(static_cast<std::size_t>(c_.n_modes) * area_));
    const OnDevice<Complex> spectrum(row_spectrum.size());
    const OnDevice<Complex> probe_sum(row_spectrum.size());
    const OnDevice<Complex> kept(static_cast<std::size_t>(hot_path::kept_on_chip()));
    const OnDevice<float> shift(std::vector<float>(2 * c_.n_slots, 0.25F));
    return milliseconds([&] {
      every_chunk([&](void* s, const hot_path::ScanArrays& scan, const hot_path::ChunkArrays& chunk,
                      Complex*) {
        hot_path::spectrum_to_chip(s, c_.n, c_.n_modes, row_spectrum.data(), spectrum.data());
        hot_path::add_gradients_and_shift(s, scan, chunk,
                                          {shift.data(), spectrum.data(), kept.data()});
        hot_path::gather_from_chip(s, c_.n, c_.n_modes, slot_sums_.data(), probe_sum.data());
      });
    });
  }

  /// One update of the probe a chunk.
  double time_update() {
    const std::size_t size = static_cast<std::size_t>(c_.n_modes) * area_;
    const OnDevice<Complex> probe_sum(size);
    const OnDevice<Complex> row_spectrum(size);
    const OnDevice<float> step(std::vector<float>{1.F});
    const OnDevice<float> max(2);
    return milliseconds([&] {
      for (int begin = 0; begin < n_positions(); begin += c_.chunk)
        hot_path::update_probe(
            nullptr, {c_.n, c_.n_modes, step.data(), 1.F, probe_sum.data(), overlap_.data(),
                      probes_.data(), row_spectrum.data(), max.data(), max.data() + 1});
    });
  }

  Case c_;
  int side_;
  int step_;
  int width_;
  std::size_t area_;
  std::mt19937 random_{1};
  OnDevice<std::uint16_t> patterns_;
  OnDevice<float> valid_;
  OnDevice<int> order_;
  OnDevice<int> corner_;
  OnDevice<int> slot_;
  OnDevice<Complex> object_;
  OnDevice<Complex> probes_;
  OnDevice<Complex> object_sum_;
  OnDevice<float> illumination_;
  OnDevice<Complex> slot_sums_;
  OnDevice<float> overlap_;
  OnDevice<double> sums_;
  OnDevice<Complex> waves_;
};

std::vector<Case> table() {
  return {{64, 1, 16384, 16, false}, {128, 1, 16384, 16, false}, {128, 1, 4096, 16, true},
          {128, 1, 1024, 256, true}, {128, 1, 576, 256, true},   {128, 1, 256, 256, true},
          {128, 1, 64, 4, false},    {128, 1, 32, 4, true},      {128, 1, 16384, 1, true},
          {64, 1, 1024, 4, false},   {64, 4, 256, 4, false},     {128, 1, 256, 4, false},
          {128, 4, 256, 4, false},   {128, 6, 256, 4, false},    {256, 1, 256, 4, false},
          {256, 4, 256, 4, false},   {512, 1, 256, 4, false},    {512, 4, 64, 4, false},
          {512, 4, 256, 4, false}};
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<Case> cases = table();
  if (argc == 6)
    cases = {{std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]),
              std::string(argv[5]) == "spread"}};
  std::printf("Milliseconds for %d positions; GB/s; GFLOP/s. ratio = all / (cuFFT + copy)\n",
              positions_of_epoch);
  std::printf(
      "   n modes chunk slots   order |      all  ratio |    cuFFT    copy |"
      "   exit   GB/s GFLOPs |  detect   GB/s GFLOPs |    back   GB/s GFLOPs |   slots  update |  "
      "on chip coverage shifted\n");
  for (const Case& c : cases) Bench(c).run();
} catch (const std::exception& e) {
  std::fprintf(stderr, "tessera_hot_path_time: %s\n", e.what());
  return 1;
}
