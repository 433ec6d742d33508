/// tessera_dense_products_time: microseconds of the products of modes that Tessera computes itself,
/// beside those of a library (cuBLAS, Eigen). Each is first compared with plain loops in double.
/// docs/decisions/0024-dense-products.md has what came of it.

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <random>
#include <stdexcept>
#include <vector>

#include <fmt/core.h>

#include "tessera/base/text.hpp"
#include "tessera/device/runtime.hpp"

#include "dense_library.hpp"
#include "physics/mode_products.hpp"
#include "physics/probe_modes.hpp"

namespace {

using namespace tessera;
using device::complex;
using device::Device;
using device::DeviceView;
using Complex = std::complex<double>;
using Images = DeviceView<complex**>;  ///< (image, value)

constexpr int n_positions = 2048;  ///< with probes of their own

template <class View>
View random_values(std::size_t n, std::size_t m) {
  View values("tessera::scaling::random", n, m);
  const auto host = Kokkos::create_mirror_view(values);
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  auto* reals = reinterpret_cast<Real*>(host.data());
  const std::size_t n_reals = n * m * sizeof(*host.data()) / sizeof(Real);
  for (std::size_t i = 0; i < n_reals; ++i) reals[i] = static_cast<Real>(normal(random));
  Kokkos::deep_copy(values, host);
  return values;
}

template <class View>
auto on_host(const View& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

Complex plain(const complex& z) {
  return {static_cast<double>(z.real()), static_cast<double>(z.imag())};
}

/// Of one among many, the host's waiting included once.
double microseconds(const Device& exec, const std::function<void()>& work) {
  std::vector<double> times;
  for (int repeat = 0; repeat < 5; ++repeat) {
    constexpr int n = 20;
    exec.fence();
    const Kokkos::Timer timer;
    for (int i = 0; i < n; ++i) work();
    exec.fence();
    times.push_back(1e6 * timer.seconds() / n);
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

void check(const char* what, Complex value, Complex truth, double scale) {
  if (!(std::abs(value - truth) < 1e-5 * scale))
    throw std::runtime_error(text(what, ": ", value.real(), " + ", value.imag(), " i, not ",
                                  truth.real(), " + ", truth.imag(), " i"));
}

void check_gram(const Images& images, const physics::ModeProducts& ours, const Images& library) {
  const auto modes = on_host(images);
  const auto theirs = on_host(library);
  const auto n_values = static_cast<double>(images.extent(1));
  for (int a = 0; a < static_cast<int>(images.extent(0)); ++a)
    for (int b = 0; b <= a; ++b) {
      Complex truth = 0;
      for (std::size_t x = 0; x < images.extent(1); ++x)
        truth += std::conj(plain(modes(a, x))) * plain(modes(b, x));
      check("our Gram matrix", ours(a, b), truth, n_values);
      check("the library's Gram matrix", plain(theirs(a, b)), std::conj(truth), n_values);
    }
}

/// Of the last value of every image. @param share of real or complex numbers
void check_mixed(const char* what, const auto& share, const Images& images, const Images& mixed) {
  const auto shares = on_host(share);
  const auto modes = on_host(images);
  const auto values = on_host(mixed);
  const std::size_t last = images.extent(1) - 1;
  for (std::size_t k = 0; k < mixed.extent(0); ++k) {
    Complex truth = 0;
    for (std::size_t m = 0; m < images.extent(0); ++m)
      truth += plain(complex(shares(k, m))) * plain(modes(m, last));
    check(what, plain(values(k, last)), truth, 10);
  }
}

void check_back(const DeviceView<Real**>& weight, const Images& own, const Images& images) {
  const auto weights = on_host(weight);
  const auto values = on_host(own);
  const auto sums = on_host(images);
  for (std::size_t k = 0; k < images.extent(0); ++k) {
    Complex truth = 0;
    for (std::size_t j = 0; j < own.extent(0); ++j)
      truth += static_cast<double>(weights(j, k)) * plain(values(j, 0));
    check("the library's sums over positions", plain(sums(k, 0)), truth, n_positions);
  }
}

void time_modes(const Device& exec, const scaling::DenseLibrary& library, int n_modes, int px) {
  const Shape2 window{px, px};
  const auto images = random_values<Images>(n_modes, window.size());
  const auto share = random_values<Images>(n_modes, n_modes);
  const Images product("tessera::scaling::product", n_modes, n_modes);
  const Images mixed("tessera::scaling::mixed", n_modes, window.size());
  physics::ModeProducts ours(n_modes, window);
  const double ours_us = microseconds(exec, [&] { ours.find(exec, images.data()); });
  const double library_us = microseconds(exec, [&] { library.gram(images, product); });
  check_gram(images, ours, product);

  const double library_mix_us = microseconds(exec, [&] { library.mix(share, images, mixed); });
  check_mixed("the library's mixture", share, images, mixed);
  const physics::ProbeView probe(images.data(), n_modes, px, px);
  physics::ModeOrthogonaliser orthogonaliser(n_modes, window);
  orthogonaliser.orthogonalise(exec, probe);
  const double mix_us = microseconds(exec, [&] { orthogonaliser.mix(exec, probe); });
  const double whole_us = microseconds(exec, [&] { orthogonaliser.orthogonalise(exec, probe); });
  fmt::print("{:>6} {:>5} {:>11.1f} {:>9.1f} {:>11.1f} {:>9.1f} {:>14.1f}\n", n_modes, px, ours_us,
             library_us, mix_us, library_mix_us, whole_us);
}

void time_weights(const Device& exec, const scaling::DenseLibrary& library, int n_opr) {
  constexpr int px = 128;
  const auto images = random_values<Images>(n_opr, px * px);
  const auto weight = random_values<DeviceView<Real**>>(n_positions, n_opr);
  const Images own("tessera::scaling::own", n_positions, px * px);
  const double there_us = microseconds(exec, [&] { library.weigh(weight, images, own); });
  check_mixed("the library's own probes", weight, images, own);
  const double back_us = microseconds(exec, [&] { library.weigh_back(weight, own, images); });
  check_back(weight, own, images);
  fmt::print("{:>6} {:>5} {:>12.0f} {:>12.0f}\n", n_opr, px, there_us, back_us);
}

void time_all() {
  const Device exec;
  const Kokkos::Timer timer;
  const scaling::DenseLibrary library(exec);
  exec.fence();
  fmt::print("the library's start {:.1f} ms\n\n", 1e3 * timer.seconds());
  fmt::print(
      "microseconds      Gram matrix            mixing\n"
      " modes    px        ours   library        ours   library  orthogonalised\n");
  for (const int px : {64, 128, 256, 512})
    for (const int n_modes : {2, 3, 6, 8}) time_modes(exec, library, n_modes, px);
  fmt::print(
      "\nprobes of {} positions by the library alone, microseconds\n"
      "   OPR    px  from modes   back to them\n",
      n_positions);
  for (const int n_opr : {2, 4, 8}) time_weights(exec, library, n_opr);
}

}  // namespace

int main() {
  const device::Runtime runtime(0);
  time_all();
}
