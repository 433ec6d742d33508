#pragma once
/// Sums over pixels and over images, in a fixed order and without atomics.

#include <cstdint>
#include <type_traits>
#include <utility>

#include "tessera/device/device.hpp"

namespace tessera::device {

/// Of a row, by one thread, at most.
inline constexpr int pixels_at_a_time = device_is_host ? 128 : 1;

/// last - first, which GPUs know when they are compiled: what is indexed up to it stays in
/// registers.
KOKKOS_FUNCTION constexpr int count_pixels(const int first, const int last) {
  return pixels_at_a_time == 1 ? 1 : last - first;
}

/// Half-open.
struct TermRange {
  int begin;
  int end;
};

namespace detail {

/// Of a GPU's threads, those that work on one piece of an image together.
inline constexpr int team_size = 256;
using Team = Kokkos::TeamPolicy<Device>::member_type;
template <class Value>
using TeamValues = Kokkos::View<Value*, Device::scratch_memory_space, Kokkos::MemoryUnmanaged>;

/// `n_teams` that share `n_values` each. The hint is that of `pixels_of`.
template <class Value>
auto teams(const Device& exec, int n_teams, int n_values) {
  using Policy = Kokkos::TeamPolicy<Device>;
  return Kokkos::Experimental::require(
      Policy(exec, n_teams, team_size)
          .set_scratch_size(
              0, Kokkos::PerTeam(static_cast<int>(TeamValues<Value>::shmem_size(n_values)))),
      Kokkos::Experimental::WorkItemProperty::HintLightWeight);
}

/// f(thread) by each thread of the team; then they wait for each other.
template <class F>
KOKKOS_FUNCTION void together(const Team& team, const F& f) {
  Kokkos::parallel_for(Kokkos::TeamThreadRange(team, team_size), f);
  team.team_barrier();
}

/// So many pixels keep a GPU busy, a thread for each.
inline constexpr std::int64_t many_threads = std::int64_t{1} << 18;

/// A row of `row_threads`, of whose pixels each takes all terms.
template <class Kernel>
struct TermsOfRow {
  Kernel kernel;
  int w;
  KOKKOS_FUNCTION void operator()(const int i, const int y, const int thread) const {
    const TermRange terms = kernel.terms(i);
    const auto sum = kernel.sums(i, y);
    for (int term = terms.begin; term < terms.end; ++term) {
      const auto pixel = kernel.row(term, i, y);
      for (int x = thread; x < w; x += row_threads) sum[x] += pixel(x);
    }
  }
};

/// A team for `width` neighbouring pixels: every n_shares-th term by the same threads.
template <class Kernel>
struct SharedTerms {
  static constexpr int width = 32;
  static constexpr int n_shares = team_size / width;
  using Value = decltype(std::declval<Kernel>().row(0, 0, 0)(0));
  Kernel kernel;
  Shape2 shape;

  KOKKOS_FUNCTION int teams_in_row() const { return (shape.w + width - 1) / width; }
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const int in_row = teams_in_row();
    const int row = team.league_rank() / in_row;
    const int first_x = (team.league_rank() - row * in_row) * width;
    const int i = row / shape.h;
    const int y = row - i * shape.h;
    const TermRange terms = kernel.terms(i);
    const TeamValues<Value> parts(team.team_scratch(0), team_size);
    together(team, [&](const int thread) {
      const int x = first_x + thread % width;
      Value part = 0;
      for (int term = terms.begin + thread / width; x < shape.w && term < terms.end;
           term += n_shares)
        part += kernel.row(term, i, y)(x);
      parts(thread) = part;
    });
    together(team, [&](const int thread) {
      const int x = first_x + thread;
      if (thread >= width || x >= shape.w) return;
      Value sum = 0;
      for (int share = 0; share < n_shares; ++share) sum += parts(share * width + thread);
      kernel.sums(i, y)[x] += sum;
    });
  }
};

}  // namespace detail

/// For each of `n` images of `shape`: kernel.sums(i, y)[x] += kernel.row(term, i, y)(x) for each
/// term of image i in kernel.terms(i), in a fixed order and without atomics.
template <class Kernel>
void add_terms(const Device& exec, const char* name, int n, Shape2 shape, const Kernel& kernel) {
  if constexpr (device_is_host) {
    Kokkos::parallel_for(
        kernel_name(name), Kokkos::RangePolicy<Device>(exec, 0, n * shape.h),
        KOKKOS_LAMBDA(const int row) {
          const int i = row / shape.h;
          const TermRange terms = kernel.terms(i);
          const auto sum = kernel.sums(i, row % shape.h);
          for (int term = terms.begin; term < terms.end; ++term) {
            const auto pixel = kernel.row(term, i, row % shape.h);
            TESSERA_INDEPENDENT_ITERATIONS
            for (int x = 0; x < shape.w; ++x) sum[x] += pixel(x);
          }
        });
  } else {
    if (n * shape.size() >= detail::many_threads) {
      for_each_pixel(exec, name, n, {shape.h, row_threads},
                     detail::TermsOfRow<Kernel>{kernel, shape.w});
      return;
    }
    using Shared = detail::SharedTerms<Kernel>;
    const Shared shared{kernel, shape};
    if (n * shape.h == 0 || shape.w == 0) return;
    Kokkos::parallel_for(kernel_name(name),
                         detail::teams<typename Shared::Value>(
                             exec, n * shape.h * shared.teams_in_row(), detail::team_size),
                         shared);
  }
}

namespace detail {

struct AddTo {
  DeviceView<double*> terms;
  DeviceView<double*> total;
  KOKKOS_FUNCTION void operator()(const int k) const { total(k) += terms(k); }
};

/// pixel(x, sum), or pixel(first, last, sum) of some at a time, for every `threads`-th x from
/// `first_x` on.
template <class Row>
KOKKOS_FUNCTION void add_row(const Row& pixel, const int first_x, const int threads, const int w,
                             Real* sum) {
  if constexpr (std::is_invocable_v<const Row&, int, int, Real*>) {
    constexpr int n = pixels_at_a_time;
    for (int x = first_x; x < w; x += n * threads) pixel(x, x + n < w ? x + n : w, sum);
  } else {
    TESSERA_INDEPENDENT_ITERATIONS
    for (int x = first_x; x < w; x += threads) pixel(x, sum);
  }
}

/// The default join of array reductions, which every Kokkos from 3.4 on spells alike. On a host a
/// thread takes a row at a time, on a GPU its share of one.
template <int n_sums, class Kernel>
struct PixelSum {
  using value_type = double[];
  static constexpr unsigned value_count = n_sums;
  static constexpr int threads = device_is_host ? 1 : row_threads;
  Shape2 shape;
  Kernel kernel;

  std::int64_t n_items(int n) const { return std::int64_t{n} * shape.h * threads; }
  KOKKOS_FUNCTION void operator()(const std::int64_t item, double sum[]) const {
    const std::int64_t row = item / threads;
    const auto pixel = kernel.row(static_cast<int>(row / shape.h), static_cast<int>(row % shape.h));
    Real terms[n_sums] = {};  // few enough for Real; their sum is double
    add_row(pixel, static_cast<int>(item - row * threads), threads, shape.w, terms);
    for (int k = 0; k < n_sums; ++k) sum[k] += static_cast<double>(terms[k]);
  }
};

}  // namespace detail

/// Add to `total` what kernel.row(i, y)(x, Real sum[n_sums]) adds up over every pixel of `n` images
/// of `shape`, or kernel.row(i, y)(first, last, Real sum[n_sums]) of up to pixels_at_a_time ones
/// from `first` on: what a loop over them cannot have vectorised takes several. `scratch` holds
/// n_sums values. Does not wait for the device.
template <int n_sums, class Kernel>
void add_pixel_sums(const Device& exec, const char* name, int n, Shape2 shape, const Kernel& kernel,
                    const DeviceView<double*>& scratch, const DeviceView<double*>& total) {
  const detail::PixelSum<n_sums, Kernel> pixel_sum{shape, kernel};
  Kokkos::parallel_reduce(
      kernel_name(name),
      Kokkos::RangePolicy<Device, Kokkos::IndexType<std::int64_t>>(exec, 0, pixel_sum.n_items(n)),
      pixel_sum, scratch);
  Kokkos::parallel_for(kernel_name(name), Kokkos::RangePolicy<Device>(exec, 0, n_sums),
                       detail::AddTo{scratch, total});
}

namespace detail {

/// A team for an image, its rows shared as those of for_each_row_pixel.
template <int n_sums, class Kernel>
struct ImageSums {
  Kernel kernel;
  Shape2 shape;
  DeviceView<double* [n_sums]> sums;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const int i = team.league_rank();
    const TeamValues<double> parts(team.team_scratch(0), team_size * n_sums);
    together(team, [&](const int thread) {
      double part[n_sums] = {};
      for (int y = thread / row_threads; y < shape.h; y += team_size / row_threads) {
        const auto pixel = kernel.row(i, y);
        Real terms[n_sums] = {};
        add_row(pixel, thread % row_threads, row_threads, shape.w, terms);
        for (int k = 0; k < n_sums; ++k) part[k] += static_cast<double>(terms[k]);
      }
      for (int k = 0; k < n_sums; ++k) parts(k * team_size + thread) = part[k];
    });
    for (int half = team_size / 2; half > 0; half /= 2)
      together(team, [&](const int thread) {
        if (thread >= half) return;
        for (int k = 0; k < n_sums; ++k)
          parts(k * team_size + thread) += parts(k * team_size + thread + half);
      });
    together(team, [&](const int k) {
      if (k < n_sums) sums(i, k) = parts(k * team_size);
    });
  }
};

}  // namespace detail

/// sums(i, k) = what kernel.row(i, y), as that of add_pixel_sums, adds up over image i, for each of
/// `n` images of `shape`, in a fixed order. Does not wait for the device.
template <int n_sums, class Kernel>
void sum_each_image(const Device& exec, const char* name, int n, Shape2 shape, const Kernel& kernel,
                    const DeviceView<double* [n_sums]>& sums) {
  if (n == 0) return;
  if constexpr (device_is_host) {
    Kokkos::parallel_for(
        kernel_name(name), Kokkos::RangePolicy<Device>(exec, 0, n), KOKKOS_LAMBDA(const int i) {
          double sum[n_sums] = {};
          for (int y = 0; y < shape.h; ++y) {
            const auto pixel = kernel.row(i, y);
            Real terms[n_sums] = {};
            detail::add_row(pixel, 0, 1, shape.w, terms);
            for (int k = 0; k < n_sums; ++k) sum[k] += static_cast<double>(terms[k]);
          }
          for (int k = 0; k < n_sums; ++k) sums(i, k) = sum[k];
        });
  } else {
    Kokkos::parallel_for(kernel_name(name),
                         detail::teams<double>(exec, n, detail::team_size * n_sums),
                         detail::ImageSums<n_sums, Kernel>{kernel, shape, sums});
  }
}

}  // namespace tessera::device
