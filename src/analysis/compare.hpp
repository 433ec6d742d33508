#pragma once
/// `tessera compare`: how far a reconstruction is from another or from a simulation's truth.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/image_stack.hpp"

#include "analysis/alignment.hpp"
#include "analysis/ring_correlation.hpp"

namespace tessera::analysis {

/// The atom columns of a simulated crystal.
struct KnownColumns {
  std::vector<Vec2> at_px;  ///< on the object
  std::vector<int> kind;    ///< equal for columns of the same atoms
  double sigma_px = 0;      ///< of the Gaussian that each is
  struct Dopant {
    std::size_t column;
    std::size_t slice;
  };
  std::vector<Dopant> dopants;
  std::vector<double> depth_m;  ///< of every slice; empty if it is not known
};

/// What a result file, or the truth in a simulated scan, says of object and probe.
struct Reconstruction {
  ObjectSource object;                 ///< (n_slices, H, W)
  WaveStack probe;                     ///< (n_modes, h, w)
  std::vector<Vec2> window_corner_px;  ///< per position, real-valued, object pixels
  std::optional<double> pixel_m;       ///< object pixel
  std::optional<Vec2> origin_m;        ///< position, in metres, of object pixel (0, 0)
  std::optional<KnownColumns> columns;
};

/// On the calling rank alone. The object stays in the file until boxes of it are read.
/// @throws InputError if the file holds neither `object` and `probe` nor `truth/...`
Reconstruction read_reconstruction(const std::string& path);

/// ||a - b|| / ||b||
struct Difference {
  double object = 0;  ///< over the illuminated pixels
  double probe = 0;   ///< over all pixels and modes
};

/// One slice of a thick object, freed of an ambiguity of its own.
struct SliceComparison {
  double difference = 0;  ///< ||a - b|| / ||b|| over the illuminated pixels
  Ambiguity removed;      ///< beyond that of the whole object
  RingCorrelation rings;
  double one_bit_fraction = 0;
  double half_bit_fraction = 0;
  std::vector<double> strengths;  ///< of every slice of b in this one: 1 for its own, else ghosts
  double cross_talk = 0;          ///< the strongest ghost
};

/// Of those columns of the reference that the scan's positions enclose.
struct ColumnComparison {
  int n_columns = 0;
  double rms_px = 0;  ///< distance from the truth, the mean of all removed
  double worst_px = 0;
  double affine_rms_px = 0;  ///< with what scale, rotation and shear of the scan explain removed
  int n_dopants = 0;         ///< 0: nothing is known of depth
  double depth_fwhm_m = 0;   ///< of what a dopant adds, along the beam
  double depth_rms_m = 0;    ///< of dopants from their true slice
};

struct Comparison {
  Difference before;                 ///< of what the files hold
  Difference after;                  ///< with the ambiguities of `a` removed
  Ambiguity removed;                 ///< what turns b into a
  Vec2 grid_offset_px;               ///< pixel (0, 0) of a on the grid of b
  std::int64_t compared_pixels = 0;  ///< illuminated by b, held by both, per slice
  RingCorrelation rings;             ///< of the objects after removal
  double one_bit_fraction = 0;       ///< where the rings fall below the 1-bit line, of Nyquist
  double half_bit_fraction = 0;
  std::optional<double> pixel_m;
  std::vector<SliceComparison> slices;  ///< empty for a thin object
  /// Root mean square distance between the scan positions of both, their mean removed; if both
  /// have as many.
  std::optional<double> position_error_px;
  std::optional<ColumnComparison> columns;
};

/// `b` is the reference: its windows say which pixels matter. Each rank compares blocks of the
/// objects, in bounded memory (BlockLimits); the figures are those of one rank. Collective.
/// @throws InputError if pixel sizes, probe shapes or slices differ, or the objects do not overlap
Comparison compare(const Reconstruction& a, const Reconstruction& b, const comm::Communicator& comm,
                   BlockLimits limits = {});

/// Of two files. Collective. @throws AgreedError: as compare and read_reconstruction
Comparison compare_files(const std::string& a, const std::string& b,
                         const comm::Communicator& comm);

/// A short table, or the same (and the rings) as JSON.
std::string compare_report(const Comparison& comparison, bool json);

}  // namespace tessera::analysis
