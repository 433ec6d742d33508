/// Exit waves of windows on the chip to their spectra: to memory, or to what they cost along a
/// line.

#include "line_costs_cuda.cuh"
#include "window_over_slices_cuda.cuh"
#include "window_sums_cuda.cuh"

namespace tessera::physics::hot_path {
namespace {

/// Counts do not come to the chip ahead.
template <int n>
using SpectraChip = OnChip<n, std::uint8_t, 0>;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// One place after another; what is done with a spectrum is `Take`'s:
/// take(place, its number in the chunk, half, 16 numbers of each thread).
template <int n>
class WindowSpectra : public OverSlices<n, SpectraChip<n>> {
  using S = Slices<n>;
  using Base = OverSlices<n, SpectraChip<n>>;
  static constexpr int ahead = 6;  ///< pixels whose loads are on their way

 public:
  __device__ WindowSpectra(const ScanArrays& scan, const ChunkArrays& chunk, SpectraChip<n>& chip)
      : Base(chip),
        scan_(scan),
        chunk_(chunk),
        slice_(slice_of<n>(this->warp_)),
        transform_{chip.slices[this->warp_], this->lane_, chip.twist_of_lane[this->lane_]} {
    chip.prepare(this->thread_);
    __syncthreads();
  }

  template <class Take>
  __device__ __forceinline__ void find(int first, int last, const Take& take) {
    for (int j = first; j < last; ++j) {
      const Place place = place_of(scan_, chunk_, j);
      start_wave(place);
      this->start_over_slices();
#pragma unroll 1
      for (int half = 0; half < 2; ++half) {
        float2 x[16 / S::last][S::last];
        this->read_spectrum(half, x);
        take(place, j, half, x);
      }
      this->wait_for_window();
    }
  }

 private:
  const ScanArrays& scan_;
  const ChunkArrays& chunk_;
  const int slice_;
  SliceTransform<n> transform_;

  __device__ __forceinline__ void start_wave(const Place& place) {
    const auto width = static_cast<unsigned>(chunk_.object_width);
    const float2* const object =
        as_float2(chunk_.object) + (place.object + slice_ * width + this->lane_);
    const float2* const probe =
        as_float2(chunk_.probes) + image_row(place.slot, 1, 0, n, slice_) + this->lane_;
    const auto load = [&](int i, bool of_probe) {
      const int b = i / S::across;
      const int x = 32 * (i % S::across);
      return of_probe ? load_here(probe + b * S::count * n + x)
                      : load_here(object + b * S::count * width + x);
    };
    float2 loaded[ahead][2];
#pragma unroll
    for (int i = 0; i < ahead; ++i) {
      loaded[i][0] = load(i, false);
      loaded[i][1] = load(i, true);
    }
    float2 v[S::across][S::rows];
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      v[i % S::across][i / S::across] = loaded[i % ahead][0] * loaded[i % ahead][1];
      if (i + ahead >= 32) continue;
      loaded[i % ahead][0] = load(i + ahead, false);
      loaded[i % ahead][1] = load(i + ahead, true);
    }
    transform_.forward(v);
    transform_.store(v);
  }
};

/// Costs of a thread's pixels, added up in double precision by its warp.
template <int n, Noise noise>
class WindowCosts {
  using S = Slices<n>;
  static constexpr int n_sums = WavesOnLine::n_sums;
  static constexpr int ahead = 4;  ///< pixels whose loads are on their way

 public:
  __device__ WindowCosts(const ScanArrays& scan, const ChunkArrays& chunk, const WavesOnLine& line,
                         const WindowSpectra<n>& spectra)
      : scan_(scan), chunk_(chunk), line_(line), spectra_(spectra) {}

  /// Times, and the pixels that are trusted.
  __device__ void start() {
    times_ = LineTimes(line_);
    spectra_.find_trusted(scan_.valid, trusted_);
  }

  __device__ __forceinline__ void add(int j, int half, const float2 (&x)[16 / S::last][S::last]) {
    constexpr int step = WindowSpectra<n>::from_number_to_number;
    const std::int64_t first = spectra_.first_number(j) + 16 * half * step;
    const float2* const ahead_of = as_float2(line_.ahead) + first;
    const float2* const behind_of = as_float2(line_.behind) + first;
    const int pixel = spectra_.detector_pixel(half, 0);
    unsigned raw[16];
    with_patterns(scan_, [&, at = pattern_of(scan_, chunk_, j) + pixel](const auto* patterns) {
#pragma unroll
      for (int i = 0; i < 16; ++i) raw[i] = __ldg(patterns + at + spectra_.pixel_offset(i));
    });
    float2 waiting[ahead][2];
#pragma unroll
    for (int i = 0; i < ahead; ++i) {
      waiting[i][0] = load_here(ahead_of + i * step);
      waiting[i][1] = load_here(behind_of + i * step);
    }
    float sum[n_sums] = {};
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      float quartic[n_coefficients] = {};
      add_intensity(x[i / S::last][i % S::last] * (1.F / n), waiting[i % ahead][0],
                    waiting[i % ahead][1], quartic);
      if (i + ahead < 16) {
        waiting[i % ahead][0] = load_here(ahead_of + (i + ahead) * step);
        waiting[i % ahead][1] = load_here(behind_of + (i + ahead) * step);
      }
      const float count = count_of(scan_, raw[i]);
      if ((trusted_ >> (16 * half + i) & 1U) == 0 || !(count < scan_.saturation)) continue;
      const float background =
          scan_.background ? __ldg(scan_.background + pixel + spectra_.pixel_offset(i)) : 0.F;
      add_costs_along<noise>(quartic, count, background, scan_.dark_amplitude, times_, sum);
    }
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int k = 0; k < n_sums; ++k) {
      const float total = sum_over_warp(sum[k]);
      if (lane == k) total_ += static_cast<double>(total);
    }
  }

  __device__ __forceinline__ void finish() const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (lane < n_sums) atomicAdd(line_.sums + lane, total_);
  }

 private:
  const ScanArrays& scan_;
  const ChunkArrays& chunk_;
  const WavesOnLine& line_;
  const WindowSpectra<n>& spectra_;
  LineTimes times_{};
  unsigned trusted_ = 0;  ///< of the thread's pixels, a bit each
  double total_ = 0;      ///< of sum number `lane`
};

#endif

/// @param by_position where a place's spectrum goes; else it goes by place
template <int n>
__global__ void __launch_bounds__(threads, 1)
    spectra_kernel(const __grid_constant__ ScanArrays scan,
                   const __grid_constant__ ChunkArrays chunk, float factor, bool by_position,
                   float2* to) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared[];
  WindowSpectra<n> spectra(scan, chunk, *reinterpret_cast<SpectraChip<n>*>(shared));
  follow_earlier_kernels();
  const WindowRun run(chunk.count, 1, SpectraChip<n>::windows);
  spectra.find(run.first, run.last, [&](const Place& place, int j, int half, const auto& x) {
    float2* const numbers = to + spectra.first_number(by_position ? place.position : j);
#pragma unroll
    for (int i = 0; i < 16; ++i)
      __stcs(numbers + (16 * half + i) * WindowSpectra<n>::from_number_to_number,
             x[i / Slices<n>::last][i % Slices<n>::last] * factor);
  });
#endif
}

template <int n, Noise noise>
__global__ void __launch_bounds__(threads, 1)
    window_costs_kernel(const __grid_constant__ ScanArrays scan,
                        const __grid_constant__ ChunkArrays chunk,
                        const __grid_constant__ WavesOnLine line) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared[];
  WindowSpectra<n> spectra(scan, chunk, *reinterpret_cast<SpectraChip<n>*>(shared));
  WindowCosts<n, noise> costs(scan, chunk, line, spectra);
  follow_earlier_kernels();
  costs.start();
  const WindowRun run(chunk.count, 1, SpectraChip<n>::windows);
  spectra.find(run.first, run.last,
               [&](const Place&, int j, int half, const auto& x) { costs.add(j, half, x); });
  costs.finish();
#endif
}

template <int n, class... Parameters, class... Arguments>
void launch_spectra(void (*kernel)(Parameters...), int count, void* stream,
                    const Arguments&... arguments) {
  launch_clusters(kernel, 1, count, threads, sizeof(SpectraChip<n>) / sizeof(float2), stream,
                  arguments...);
}

}  // namespace

bool keeps_spectra(int n, int n_modes) {
  return n < 256 && n_modes == 1 && fits_on_chip(n, n_modes);  // decision 0028
}

void find_spectra(void* stream, const ScanArrays& scan, const ChunkArrays& chunk, float factor,
                  bool by_position, Complex* spectra) {
  if (chunk.count == 0) return;
  const float per_pixel = factor / static_cast<float>(scan.n * scan.n);
  with_spectra_size(scan.n, [&](auto size) {
    launch_spectra<size>(spectra_kernel<size>, chunk.count, stream, scan, chunk, per_pixel,
                         by_position, as_float2(spectra));
  });
}

void add_costs_on_chip(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                       const WavesOnLine& line) {
  if (chunk.count == 0) return;
  with_spectra_size(scan.n, [&](auto size) {
    with_noise(scan, [&](auto noise) {
      launch_spectra<size>(window_costs_kernel<size, noise>, chunk.count, stream, scan, chunk,
                           line);
    });
  });
}

}  // namespace tessera::physics::hot_path
