/// The gradient of a thick sample in one kernel that keeps every window on the chip: through all
/// of the sample's slices to the detector, and back through them to all sums.
///
/// One turn of a window, which waits for all its warps where (:) stands:
///
///     probe; times slice 0
///     : free space : kept as what falls on slice 1; times slice 1      and so on
///     : counts, over the slices and back :
///     the last slice's gradient, with what fell on it; times conj(slice)
///     : back through free space :                                      and so on
///     gradients of slice 0 and of the probe

#include "window_detector_cuda.cuh"
#include "window_probe_sum_cuda.cuh"
#include "window_through_slices_cuda.cuh"

namespace tessera::physics::hot_path {
namespace {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

template <int n, class Count, int shares, bool plain>
class ThickWindowGradient
    : private ThroughSlices<n, WindowDetector<n, Count, shares, false, plain>> {
  using S = Slices<n>;
  using Chip = OnChip<n, Count, shares>;
  using Through = ThroughSlices<n, WindowDetector<n, Count, shares, false, plain>>;
  using typename Through::Registers;

 public:
  __device__ ThickWindowGradient(const ScanArrays& scan, const ChunkArrays& chunk,
                                 const SliceArrays& slices, const KeptOfSlices& kept,
                                 const CUtensorMap& object_boxes, const CUtensorMap& probe_boxes,
                                 Chip& chip)
      : Through(chunk, slices, chip, scan, chunk),
        kept_(kept),
        object_boxes_(object_boxes),
        probe_sum_(scan, chunk, probe_boxes, chip, this->transform_.slice, this->slice_, mode_) {}

  /// The same places of all warps of a window.
  __device__ __forceinline__ void add(const WindowRun& run) {
    if (run.first >= run.last) return;
    this->find_trusted();
    const int last_slice = this->slices_.n_slices - 1;
    Place now = place_of(this->scan_, this->chunk_, run.first);
#pragma unroll 1
    for (int j = run.first; j < run.last; ++j) {
      const Place next = place_of(this->scan_, this->chunk_, min(j + 1, run.last - 1));
      this->start_counts(now);
#pragma unroll 1
      for (int slice = 0;; ++slice) {
        transmit(now, slice, run.worker, slice == last_slice ? kept_at(kept_.exit, j) : nullptr);
        if (slice == last_slice) break;
        this->template cross_gap<1>(slice);
      }
      this->compare(now, j - run.first);
#pragma unroll 1
      for (int slice = last_slice;; --slice) {
        leave(now, slice, run.worker, slice == last_slice ? kept_at(kept_.chi, j) : nullptr);
        if (slice == 0) break;
        this->template cross_gap<-1>(slice - 1);
      }
      if (next.slot != now.slot) probe_sum_.flush(now.slot);
      now = next;
    }
    probe_sum_.flush(now.slot);
    if (this->lane_ == 0) wait_until_added();
    this->finish_sums(this->chunk_.sums);
  }

 private:
  const KeptOfSlices& kept_;
  const CUtensorMap& object_boxes_;
  const int mode_ = shares > 0 ? static_cast<int>(rank_in_cluster()) : 0;
  const int n_modes_ = shares > 0 ? this->scan_.n_modes : 1;
  ProbeSum<n, Chip> probe_sum_;

  __device__ __forceinline__ std::int64_t first_of_mode(int number) const {
    return this->first_of_image(std::int64_t{number} * n_modes_ + mode_);
  }
  __device__ __forceinline__ float2* kept_at(Complex* kept, int j) const {
    return kept ? as_float2(kept) + first_of_mode(j) : nullptr;
  }
  __device__ __forceinline__ const float2* probe_of(const Place& place) const {
    return as_float2(this->chunk_.probes) + first_of_mode(place.slot);
  }
  /// What falls on a slice behind the first one.
  __device__ __forceinline__ float2* incident_on(int slice, int worker) const {
    return as_float2(this->slices_.incident) + (slice - 1) * this->slices_.incident_stride +
           first_of_mode(worker);
  }

  /// The waves through a slice of the sample, on their way to a spectrum. @param exit null, or =
  /// them
  __device__ __forceinline__ void transmit(const Place& place, int slice, int worker,
                                           float2* exit) {
    const unsigned corner = this->corner_of(place, slice);
    float* const dose = this->chunk_.dose + corner;
    float2* const incident = slice > 0 ? incident_on(slice, worker) : nullptr;
    Registers v;
    this->enter(as_float2(this->chunk_.object) + corner, slice == 0 ? probe_of(place) : nullptr, v,
                [&](int i, float2 wave) {
                  store_if(slice > 0, incident + this->image_offset(i), wave);
                  add_if(this->chunk_.dose != nullptr, dose + this->object_offset(i), power(wave));
                });
    if (exit) store(v, exit);
    this->to_slice(v);
  }

  /// chi from behind a slice of the sample to before it, and on its way to a spectrum; before the
  /// first one, to the probe's sum. @param kept null, or = chi
  __device__ __forceinline__ void leave(const Place& place, int slice, int worker, float2* kept) {
    constexpr int ahead = 10;
    const unsigned corner = this->corner_of(place, slice);
    const float2* const object = as_float2(this->chunk_.object) + corner;
    const float2* const incident = slice == 0 ? probe_of(place) : incident_on(slice, worker);
    const auto load = [&](int k) {
      return k % 2 == 0 ? load_here(object + this->object_offset(k / 2))
                        : __ldcg(incident + this->image_offset(k / 2));
    };
    Registers v;
    this->transform_.backward(v, this->chip_.twist_of_slice[this->slice_]);
    if (kept) store(v, kept);
    float2 loaded[ahead];
#pragma unroll
    for (int k = 0; k < ahead; ++k) loaded[k] = load(k);
    const auto take = [&](int k) {
      const float2 value = loaded[k % ahead];
      if (k + ahead < 64) loaded[k % ahead] = load(k + ahead);
      return value;
    };
    const ObjectRows<n> rows(this->chunk_, this->transform_.slice, corner, this->slice_,
                             this->lane_);
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      float2& chi = v[i % S::across][i / S::across];
      const float2 seen = take(2 * i);
      rows.stage(i % S::across, i / S::across, conj_times(take(2 * i + 1), chi));
      chi = conj_times(seen, chi);
    }
    if (this->chunk_.object_sum) rows.start_addition(object_boxes_);
    if (slice > 0)
      this->to_slice(v);
    else
      add_probe_gradient(place.slot, v);
  }

  __device__ __forceinline__ void store(const Registers& v, float2* image) const {
#pragma unroll
    for (int i = 0; i < 32; ++i)
      __stcs(image + this->image_offset(i), v[i % S::across][i / S::across]);
  }

  __device__ __forceinline__ void add_probe_gradient(int slot, const Registers& v) const {
    this->free_slice();
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const float2 gradient = v[i % S::across][i / S::across];
      if (i < Chip::held)
        probe_sum_.on_chip(i) = probe_sum_.on_chip(i) + gradient;
      else
        probe_sum_.stage(i, gradient);
    }
    if (this->chunk_.slot_sums) probe_sum_.start_addition(slot);
  }
};

#endif

template <int n, class Count, int shares, bool plain>
__global__ void __launch_bounds__(threads, 1)
    thick_window_gradient_kernel(const __grid_constant__ ScanArrays scan,
                                 const __grid_constant__ ChunkArrays chunk,
                                 const __grid_constant__ SliceArrays slices,
                                 const __grid_constant__ KeptOfSlices kept,
                                 const __grid_constant__ CUtensorMap object_boxes,
                                 const __grid_constant__ CUtensorMap probe_boxes) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared[];
  using Chip = OnChip<n, Count, shares>;
  ThickWindowGradient<n, Count, shares, plain> windows(
      scan, chunk, slices, kept, object_boxes, probe_boxes, *reinterpret_cast<Chip*>(shared));
  follow_earlier_kernels();
  const WindowRun run(chunk.count, blocks_of_window<n, shares>(scan), Chip::windows);
  windows.add(run);
  leave_cluster<shares>(run);
#endif
}

template <bool plain>
struct LaunchThickWindows {
  void* stream;
  const ScanArrays& scan;
  const ChunkArrays& chunk;
  const SliceArrays& slices;
  const KeptOfSlices& kept;

  template <int n, class Count, int shares>
  void operator()(WindowKind<n, Count, shares>) const {
    using Chip = OnChip<n, Count, shares>;
    static_assert(sizeof(Chip) <= shared_bytes);
    // Planes follow one another: boxes are those of one tall object.
    ChunkArrays tall = chunk;
    tall.object_height *= slices.n_slices;
    launch_clusters(thick_window_gradient_kernel<n, Count, shares, plain>,
                    blocks_of_window<n, shares>(scan), chunk.count, threads,
                    sizeof(Chip) / sizeof(float2), stream, scan, chunk, slices, kept,
                    object_boxes<n>(tall), probe_boxes<n, Chip>(chunk));
  }
};

}  // namespace

void add_gradients_of_slices_on_chip(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                                     const SliceArrays& slices, const KeptOfSlices& kept) {
  if (chunk.count == 0) return;
  add_overlap(stream, scan, chunk);
  with_comparison(scan, [&](auto plain) {
    with_window_kind(scan, LaunchThickWindows<plain>{stream, scan, chunk, slices, kept});
  });
  gather_background_slopes(stream, scan, chunk);
}

}  // namespace tessera::physics::hot_path
