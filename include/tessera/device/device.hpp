#pragma once
/// The one place that spells Kokkos spaces: where arrays live, how they lie, and how work is
/// started.

#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>

#include "tessera/base/box.hpp"

/// Tells the compiler that no iteration of the loop that follows needs another's result.
#if defined(__clang__)
#define TESSERA_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define TESSERA_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define TESSERA_INDEPENDENT_ITERATIONS
#endif

namespace tessera {

#ifdef TESSERA_REAL_IS_DOUBLE
using Real = double;
#else
using Real = float;
#endif

}  // namespace tessera

namespace tessera::device {

/// An execution space instance, the first argument of everything that launches work.
using Device = Kokkos::DefaultExecutionSpace;
using Host = Kokkos::DefaultHostExecutionSpace;
using complex = Kokkos::complex<Real>;

/// C order everywhere, as in HDF5, FFTW and cuFFT.
template <class T>
using DeviceView = Kokkos::View<T, Kokkos::LayoutRight, Device::memory_space>;
template <class T>
using HostView = Kokkos::View<T, Kokkos::LayoutRight, Kokkos::HostSpace>;

inline constexpr bool device_is_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, Device::memory_space>::accessible;

/// Real and imaginary parts, one after another: a loop that treats them alike is vectorised so.
KOKKOS_FUNCTION inline Real* reals(complex* values) {
  return reinterpret_cast<Real*>(values);
}
KOKKOS_FUNCTION inline const Real* reals(const complex* values) {
  return reinterpret_cast<const Real*>(values);
}

#if KOKKOS_VERSION >= 30700
namespace math = Kokkos;
#else
namespace math = Kokkos::Experimental;
#endif

/// Of the images that a view holds: its last two extents.
template <class View>
Shape2 image_shape(const View& view) {
  constexpr unsigned rank = View::rank;
  return {static_cast<int>(view.extent(rank - 2)), static_cast<int>(view.extent(rank - 1))};
}

/// A kernel's name for profiling tools. Without one it stays empty: making it would allocate at
/// every launch.
inline std::string kernel_name(const char* name) {
  return Kokkos::Tools::profileLibraryLoaded() ? std::string(name) : std::string();
}

/// A named stretch of work, as long as it lives, for profiling tools (an NVTX range with Kokkos'
/// connector). Costs nothing when none listens.
class Region {
 public:
  explicit Region(const char* name) : is_heard_(Kokkos::Tools::profileLibraryLoaded()) {
    if (is_heard_) Kokkos::Profiling::pushRegion(name);
  }
  ~Region() {
    if (is_heard_) Kokkos::Profiling::popRegion();
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

 private:
  bool is_heard_;
};

/// Threads of a GPU that share a row: each finds where it lies, and takes every such pixel.
inline constexpr int row_threads = 32;

namespace detail {

/// (row of all images, x), rows of threads along x. The hint has a kernel's arguments travel with
/// its launch, whatever their size: else a graph could not record it.
inline auto pixels_of(const Device& exec, int n, Shape2 shape) {
  using Policy = Kokkos::MDRangePolicy<Device, Kokkos::Rank<2, Kokkos::Iterate::Right>>;
  return Kokkos::Experimental::require(Policy(exec, {0, 0}, {n * shape.h, shape.w}, {8, 32}),
                                       Kokkos::Experimental::WorkItemProperty::HintLightWeight);
}

// Functors with names, as nvcc needs them here: what copies a lambda for both sides belongs to an
// object file, and is null where the linker took a template's code from another.

template <class F>
struct PixelOfRows {
  F f;
  int h;
  KOKKOS_FUNCTION void operator()(const int row, const int x) const { f(row / h, row % h, x); }
};

template <class Kernel>
struct SharedRow {
  Kernel kernel;
  int w;
  KOKKOS_FUNCTION void operator()(const int i, const int y, const int thread) const {
    const auto pixel = kernel.row(i, y);
    for (int x = thread; x < w; x += row_threads) pixel(x);
  }
};

template <class Value>
struct SetZero {
  Value* values;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const { values[i] = Value(); }
};

}  // namespace detail

/// f(i, y, x) for every pixel of `n` images of `shape`.
template <class F>
void for_each_pixel(const Device& exec, const char* name, int n, Shape2 shape, const F& f) {
  if (n * shape.h == 0 || shape.w == 0) return;
  if constexpr (device_is_host) {
    Kokkos::parallel_for(
        kernel_name(name), Kokkos::RangePolicy<Device>(exec, 0, n * shape.h),
        KOKKOS_LAMBDA(const int row) {
          const int i = row / shape.h;
          const int y = row - i * shape.h;
          for (int x = 0; x < shape.w; ++x) f(i, y, x);
        });
  } else {
    Kokkos::parallel_for(kernel_name(name), detail::pixels_of(exec, n, shape),
                         detail::PixelOfRows<F>{f, shape.h});
  }
}

/// The same for a kernel in two steps: kernel.row(i, y) finds where the row lies, and what it
/// returns is called with x. On a host that leaves an inner loop of plain pointers, which the
/// compiler vectorises.
template <class Kernel>
void for_each_row_pixel(const Device& exec, const char* name, int n, Shape2 shape,
                        const Kernel& kernel) {
  if constexpr (device_is_host) {
    Kokkos::parallel_for(
        kernel_name(name), Kokkos::RangePolicy<Device>(exec, 0, n * shape.h),
        KOKKOS_LAMBDA(const int row) {
          const auto pixel = kernel.row(row / shape.h, row % shape.h);
          TESSERA_INDEPENDENT_ITERATIONS
          for (int x = 0; x < shape.w; ++x) pixel(x);
        });
  } else {
    for_each_pixel(exec, name, n, {shape.h, row_threads},
                   detail::SharedRow<Kernel>{kernel, shape.w});
  }
}

/// Every value of a contiguous view becomes zero.
template <class View>
void set_zero(const Device& exec, const View& view) {
  using Value = typename View::non_const_value_type;
  Kokkos::parallel_for(
      kernel_name("tessera::device::set_zero"),
      Kokkos::RangePolicy<Device, Kokkos::IndexType<std::int64_t>>(exec, 0, view.size()),
      detail::SetZero<Value>{view.data()});
}

/// A new device view of `layout` with the host's values, C order.
template <class View>
View to_device(const std::string& label, const typename View::value_type* values,
               const typename View::array_layout& layout) {
  View made(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), layout);
  const auto host = Kokkos::create_mirror_view(made);
  std::copy(values, values + made.size(), host.data());
  Kokkos::deep_copy(made, host);
  return made;
}

}  // namespace tessera::device
