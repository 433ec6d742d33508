#pragma once
/// The gradient of one chunk in one to three fused kernels, for NVIDIA GPUs, single precision and
/// square windows of a power of two: `docs/decisions/0008`. Formulas: `forward_kernels.hpp`,
/// `detector_kernels.hpp`. Plain pointers to device memory, 16-byte aligned, C order. Everything is
/// enqueued on `stream` (a cudaStream_t); nothing allocates or waits.
///
/// `hot_path_cuda.cu`, or `hot_path_none.cpp` where there is no CUDA: `supports` is then false, and
/// what is not supported must not be called.

#include <complex>
#include <cstdint>
#include <limits>

#include "tessera/physics/noise_model.hpp"

namespace tessera::physics::hot_path {

using Complex = std::complex<float>;

enum class Counts { u8, u16, u32, f32 };

/// What a rank holds of the scan.
struct ScanArrays {
  int n;        ///< window, pixels, both ways
  int n_modes;  ///< of the probe
  Counts counts;
  const void* patterns;  ///< (pattern, n, n), zero frequency at [0, 0]
  const float* valid;    ///< (n, n), 1 = trust
  const int* order;      ///< local position of every place in the epoch's order
  const int* corner;     ///< (position, 2): y, x of the window in the tile
  const int* slot;  ///< shifted probe of every place in the epoch's order; null: slot 0 for all
  bool own_slots = false;            ///< place j of a chunk has slot j
  const float* intensity = nullptr;  ///< of the beam, by position: |object|^2 counts so much
  /// Counts from which on a pixel of one pattern is not trusted.
  float saturation = std::numeric_limits<float>::infinity();
  const float* background = nullptr;  ///< (n, n), counts that every pattern has besides
  /// Where counts are compared; projections know amplitudes alone.
  Noise noise = Noise::amplitude;
  /// Of ModelOptions; on the chip of projections alone.
  float dark_amplitude = static_cast<float>(least_dark_amplitude);
};

/// Places begin ... begin + count - 1 of the order, with what they read and add to.
struct ChunkArrays {
  int begin;
  int count;
  bool patterns_packed;  ///< true: the j-th pattern is of the j-th place, not of its position
  float scale;           ///< of the unitary transform, 1 / n
  const Complex* object;
  std::int64_t object_width;  ///< of object, object_sum, dose: pixels
  std::int64_t object_height;
  const Complex* probes;  ///< (slot, mode, n, n)
  // What is added to; null: not wanted.
  Complex* object_sum;  ///< += sum_jm conj(probe_jm) wave_jm, unitary
  float* dose;          ///< += sum_jm |probe_jm|^2
  Complex* slot_sums;   ///< (slot, mode, n, n) += sum_j conj(object_j) wave_jm
  float* overlap;       ///< (n, n) += sum_j |object_j|^2
  double* sums;         ///< the first 5 of FigureSums; never null where there are patterns
  /// (n, n, 2) += slope and curvature by the background: ParameterSlopes
  float* background_slopes = nullptr;
  float* background_slopes_on_chip = nullptr;  ///< (n, n, 2), zeros: room for what is added there
};

/// @return whether this build and the functions below can do such windows
bool supports(int n, int n_modes);

/// Object and probe to all sums of `chunk`, by the kernels that are fastest.
/// @param waves (count, n_modes, n, n), perhaps overwritten
void add_gradients(void* stream, const ScanArrays& scan, const ChunkArrays& chunk, Complex* waves);

/// Whether this GPU keeps such a window on the chip from its exit wave to both gradients, in one
/// kernel.
bool fits_on_chip(int n, int n_modes);
/// Whether such a kernel takes `add_gradients` of such windows: those that fit, and some of more
/// modes, several of which a multiprocessor has in turn.
bool gradients_fit_on_chip(int n, int n_modes);
/// Such windows, of all their modes at once, that the GPU holds at a time.
int places_on_chip(int n, int n_modes);
/// Fewer of them leave multiprocessors idle, so that three kernels, which use all, are faster.
int places_worth_the_chip(int n, int n_modes);
/// Whether the kernels that keep windows on the chip can number an object's pixels.
constexpr bool counts_pixels(std::int64_t n_pixels) {
  return n_pixels < std::int64_t{1} << 32;
}

/// `add_gradients` in that kernel, for windows whose gradients fit and objects that `counts_pixels`
/// allows.
/// @param waves as of `add_gradients`
void add_gradients_on_chip(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                           Complex* waves);

/// Whether dose and overlap are better added for a whole batch, whose windows lie densely, than
/// window by window.
/// @param height of the tile, as `width`, pixels
/// @param count positions of the batch
/// @param n_slots of the batch; 0: no dose is wanted
bool covers_densely(int n, std::int64_t height, std::int64_t width, int count, int n_slots);
constexpr int most_dense_slots = 1024;  ///< of a batch whose dose is added so
/// What `add_dense_coverage` works with, of one tile's batches.
struct DenseScratch {
  int* places;    ///< (dense_coverage_places), zero before the first batch
  float* powers;  ///< (slot, n, n)
};
std::int64_t dense_coverage_places(std::int64_t n_positions);
/// dose and overlap of `add_gradients`, of a batch that `covers_densely`.
/// @param batch all places of a batch as one chunk, with all its slots
void add_dense_coverage(void* stream, const ScanArrays& scan, const ChunkArrays& batch, int n_slots,
                        const DenseScratch& scratch);

/// Shifts that are made on the chip, of every place its own.
struct ShiftsOnChip {
  const float* shift;       ///< (slot, 2): y, x, pixels; by position of probes of their own
  const Complex* spectrum;  ///< (plane, n, n), as `spectrum_to_chip` leaves it
  Complex* kept;            ///< `kept_on_chip()` numbers, overwritten
  /// Not null: = the residual's exit waves, (place, mode, n, n) in the chip's order; then `kept`,
  /// of the same shape, = the shifted probes.
  Complex* chi = nullptr;
};
std::int64_t kept_on_chip();

/// `add_gradients_on_chip` with the probe shifted to every place, where `chunk` would have one in
/// each slot.
/// @param chunk whose `probes` are not looked at; its slot_sums: (n_modes, n, n), the spectrum of
/// the sum over places of conj(object_j) wave_jm, moved back, in the chip's order
void add_gradients_and_shift(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                             const ShiftsOnChip& shifts);

/// Every place has a probe for itself, and `ScanArrays::own_slots`: sqrt(intensity) times mode m,
/// and for the first one sum_k weight_k OPR mode k besides. The planes of the spectrum are the
/// modes, then the OPR modes. What each place says of its parameters is added by place of the
/// chunk, in the terms of beam_slopes.hpp; null: not wanted.
struct OwnProbes {
  int n_opr;
  const float* opr_weight;  ///< (position, n_opr)
  double* of_spectrum;      ///< (place, 4): SpectrumSlopes
  double* of_opr;           ///< (place, n_opr, 2): OprSlopes
  double* moves;            ///< (place, 2): ObjectMoves
  double* of_object;        ///< (place, 2): ObjectInBeam
};

/// `add_gradients_and_shift` of such probes.
/// @param chunk its slot_sums: (plane, n, n)
void add_gradients_of_own_probes(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                                 const ShiftsOnChip& shifts, const OwnProbes& own);

/// `add_gradients` in three kernels, which hand the waves on.
/// @param waves = n times the row spectra of the residual's exit waves
void add_gradients_and_keep(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                            Complex* waves);

/// The three kernels of `add_gradients_and_keep`, in this order, for who times them.
void exit_rows(void* stream, const ScanArrays& scan, const ChunkArrays& chunk, Complex* waves);
void detector_columns(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                      Complex* waves);
void rows_gradient(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                   const Complex* waves);

/// Slices behind the first one, whose planes follow one another in the arrays of a chunk.
struct SliceArrays {
  int n_slices;
  const Complex* propagators;  ///< (gap, n, n), with 1 / n^2
  /// The same in the chip's order, as `planes_to_chip` leaves it; for windows that fit on the chip.
  const Complex* propagators_on_chip;
  Complex* incident;             ///< (slice - 1, place, n_modes, n, n) = what falls on each
  std::int64_t incident_stride;  ///< from slice to slice
};

/// `add_gradients` of a thick sample: the sums of every slice, those of the probe at the first one.
/// Where nothing is kept, in one kernel or more, whichever is faster.
/// @param kept null, or = what `add_gradients_and_keep` leaves, behind the last slice
void add_gradients_of_slices(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                             const SliceArrays& slices, Complex* waves, Complex* kept);

/// What is kept behind the last slice, (place, n_modes, n, n); null: nothing.
struct KeptOfSlices {
  Complex* exit = nullptr;  ///< exit waves
  Complex* chi = nullptr;   ///< what they miss of the counts
};

/// Whether one kernel takes `count` windows of a thick sample through all its slices on the chip,
/// and is faster than many.
/// @param n_pixels of all slices
bool slices_better_on_chip(const ScanArrays& scan, const SliceArrays& slices, int count,
                           std::int64_t n_pixels);

/// `add_gradients_of_slices` in that kernel, for what `add_gradients_on_chip` takes, and what is to
/// be `kept`.
void add_gradients_of_slices_on_chip(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                                     const SliceArrays& slices, const KeptOfSlices& kept);

/// waves = row spectra of the exit waves behind the last slice.
/// @param slices whose `incident` is not looked at
void exit_rows_of_slices(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                         const SliceArrays& slices, Complex* waves);

/// Exit waves between kernels are *row spectra*: unnormalised FFTs along x of `ChunkArrays::scale`
/// times them, as `exit_rows` leaves them. Methods that keep waves keep these.

/// Where a batch's step may lead, and what is to be known of it for every place of a chunk.
struct Directions {
  const Complex* object;  ///< dO, where ChunkArrays::object is O
  const Complex* probes;  ///< dP, (slot, mode, n, n), where ChunkArrays::probes are P
  double* products;       ///< (place, 5) += NormalEquations of u = P dO, v = dP O and the waves
};

/// @param waves as `add_gradients_and_keep` leaves them
void add_products(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                  const Directions& directions, const Complex* waves);

/// The same of a thick sample, whose gradient on the chip kept exit waves and chi.
/// @param directions whose object is O + dO: u is the difference that dO makes
/// @param kept its exit waves become u
void add_products_of_slices(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                            const SliceArrays& slices, const Directions& directions,
                            const KeptOfSlices& kept);

/// `add_products` of what `add_gradients_and_shift` kept, in one kernel that shifts dP to every
/// place.
/// @param directions whose probes are not looked at
/// @param shifts of dP; `kept` and `chi` as they were left
void add_products_and_shift(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                            const Directions& directions, const ShiftsOnChip& shifts);
/// The same of what `add_gradients_of_own_probes` kept. @param own of which weights matter alone
void add_products_of_own_probes(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                                const Directions& directions, const ShiftsOnChip& shifts,
                                const OwnProbes& own);

/// A step of a projection method, of the row spectra that P_O leaves and of those that are kept of
/// every position: `LinearMap` of projection_pass.hpp.
struct Projection {
  Complex* overlapping;  ///< (position, mode, n, n) = what P_O shall project; null: not stored,
                         ///< on the chip
  Complex* kept;         ///< (position, mode, n, n), the same array or another
  float* factor;         ///< (place, n, n), overwritten
  double* distance;      ///< (place), squared, to the measured amplitudes; 0 before
  double bound;          ///< distance that is left
  float of_overlap;
  float of_kept;
  bool from_overlap;
  float of_residual;
  float keeps_new;
  float keeps_base;
};

/// @param waves (count, n_modes, n, n), overwritten: P_O's
void project(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
             const Projection& projection, Complex* waves);

/// All sums of `chunk` but FigureSums, of exit waves that are kept: slot_sums of what they have
/// besides probe_jm object_j.
/// @param kept (position, mode, n, n)
void add_kept(void* stream, const ScanArrays& scan, const ChunkArrays& chunk, const Complex* kept);

/// Whether the chip takes projections and lines of such windows. Waves are kept as *spectra on the
/// chip* then: unnormalised spectra / n^2, each in the order in which the chip meets its
/// frequencies, (position, n, n) or (place, n, n).
bool keeps_spectra(int n, int n_modes);

/// spectra = `factor` times those of the exit waves of `chunk`. @param by_position or by place
void find_spectra(void* stream, const ScanArrays& scan, const ChunkArrays& chunk, float factor,
                  bool by_position, Complex* spectra);

/// `project`, and `add_kept` to the object's sums, of spectra on the chip.
/// @param projection whose factor and distance are not looked at
void project_and_add(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                     const Projection& projection);

/// `add_kept` to the probe's sums, of spectra on the chip, by position.
void add_kept_spectra(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                      const Complex* spectra);

/// Row spectra at three points of a line, of exit waves that are quadratic in t.
struct WavesOnLine {
  static constexpr int n_costs = 8;
  static constexpr int n_sums = n_costs + 1;
  const Complex* here;    ///< (count, n_modes, n, n), at t = 0
  const Complex* ahead;   ///< at t = 1
  const Complex* behind;  ///< at t = -1
  const float* times;     ///< (n_costs)
  double* sums;  ///< (n_sums) += the cost at t = times(k), less that at t = 0; its slope at t = 0
};

void add_costs(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
               const WavesOnLine& line);

/// `add_costs` of object and probes of `chunk` at t = 0.
/// @param line ahead and behind: n times the spectra on the chip, by place; here is not looked at
void add_costs_on_chip(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                       const WavesOnLine& line);

/// The probe's side, too, works on row spectra, (n_modes, n, n). From
/// there a column needs no other to become one of a shifted probe.

/// Every row, where it is, becomes its unnormalised FFT (forward) or inverse FFT.
/// @param images (count, n, n)
void transform_rows(void* stream, int n, int count, bool forward, Complex* images);

/// The probe at several sub-pixel shifts.
struct Slots {
  int n;  ///< window, pixels, both ways
  int n_modes;
  int count;
  const float* shift;  ///< (count, 2): y, x, pixels
};

/// probes(slot) = the probe moved by the slot's shift.
/// @param row_spectrum (n_modes, n, n), of the probe
/// @param probes (slot, mode, n, n)
void shift_probes(void* stream, const Slots& slots, const Complex* row_spectrum, Complex* probes);

/// probe_sum += n times the row spectrum of the sum over slots of slot_sums(slot), moved back.
/// @param slot_sums (slot, mode, n, n); zero afterwards
/// @param probe_sum (n_modes, n, n)
void gather_slot_sums(void* stream, const Slots& slots, Complex* slot_sums, Complex* probe_sum);

/// For windows that fit on the chip: on_chip = the probe's spectrum / n^2 in the order in which the
/// chip meets its frequencies.
/// @param row_spectrum (n_modes, n, n), of the probe
void spectrum_to_chip(void* stream, int n_pixels, int n_modes, const Complex* row_spectrum,
                      Complex* on_chip);
/// The same of spectra along both axes. @param spectrum (n_planes, n, n), unnormalised
void planes_to_chip(void* stream, int n_pixels, int n_planes, const Complex* spectrum,
                    Complex* on_chip);

/// probe_sum += n times the row spectrum of what `on_chip` is the spectrum of.
/// @param on_chip (n_modes, n, n), of `add_gradients_and_shift`; zero afterwards
void gather_from_chip(void* stream, int n_pixels, int n_modes, Complex* on_chip,
                      Complex* probe_sum);
/// plane_sums, unnormalised spectra along both axes, += what `on_chip` is in the chip's order.
/// @param on_chip (n_planes, n, n), of `add_gradients_of_own_probes`; zero afterwards
void gather_planes(void* stream, int n_pixels, int n_planes, Complex* on_chip, Complex* plane_sums);

/// From a batch's complete sums to the probe of the next. All on the device; step, max_overlap
/// and max_power are one value each.
struct ProbeUpdate {
  int n;  ///< window, pixels, both ways
  int n_modes;
  const float* step;
  float alpha;
  Complex* probe_sum;     ///< (n_modes, n, n), as gather_slot_sums leaves it; zero afterwards
  float* overlap;         ///< (n, n), 16-byte aligned; zero afterwards
  Complex* probe;         ///< (n_modes, n, n)
  Complex* row_spectrum;  ///< (n_modes, n, n) = that of the new probe
  float* max_overlap;     ///< = max of overlap
  float* max_power;       ///< = max over pixels of sum_m |new probe_m|^2
};

/// probe += step probe_sum / ((1 - alpha) overlap + alpha max_overlap), where that weight is
/// not zero (probe_sum here as an image).
void update_probe(void* stream, const ProbeUpdate& update);

}  // namespace tessera::physics::hot_path
