#pragma once
/// Reading a scan: what it is (metadata, on all ranks), then its patterns, each byte once, each to
/// its owner.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/box.hpp"
#include "tessera/base/image_stack.hpp"
#include "tessera/comm/communicator.hpp"
#include "tessera/io/hdf5.hpp"
#include "tessera/io/memory_scan.hpp"

#include "geometry/detector_frame.hpp"

namespace tessera::io {

struct ScanFormat;

/// What becomes of values below zero, and of NaN, which only `ignore` lets pass.
enum class NegativeCounts { refuse, zero, ignore };

/// What a file of numbers without a header does not say.
struct RawNumbers {
  std::string type;  ///< "u16", "u16be" if big-endian, "i32", "f32"
  Shape2 shape;      ///< of a pattern
  std::int64_t first_byte = 0;
  std::int64_t bytes_between = 0;  ///< of one pattern and the next
};

/// Where the scan lies, and which pixels of it count.
struct ScanSource {
  std::string path;
  std::string patterns;
  std::optional<std::string> positions;     ///< (position, columns), or two names: y, x
  std::optional<std::string> valid_pixels;  ///< (y, x) or as the patterns, 1 = trust
  bool zero_frequency_centred = true;
  std::vector<bool> held_out = {};  ///< by position: left out of the totals' sums; empty: none
  std::optional<std::string> background = {};  ///< (y, x), counts in a pattern
  // See geometry::make_frame; recorded pixels.
  geometry::Turn turn = {};
  std::optional<Vec2> centre_px = {};
  Shape2 crop = {};
  int bin = 1;
  Shape2 pad_to = {};
  /// Recorded pixels with as many counts or more are ignored.
  double saturation_counts = std::numeric_limits<double>::infinity();
  /// Recorded pixels that are nearer to the zero frequency are not valid.
  double beam_stop_radius_px = 0;
  std::string format = "auto";  ///< a format's name; "auto": told from what the file holds
  RawNumbers raw = {};          ///< where `format` is "raw"
  std::shared_ptr<const MemoryScan> memory = {};  ///< where `format` is "memory"
  /// Images in the detector's order, without a zero frequency.
  bool in_near_field = false;
  std::string positions_file = {};  ///< here and below: empty: `path`
  /// Of y and of x; none: a table of two.
  std::optional<std::array<int, 2>> positions_columns = {};
  Vec2 positions_scale{1, 1};  ///< from the file's y and x to metres
  /// Instead of valid_pixels: 0 = trust.
  std::optional<std::string> bad_pixels = {};
  std::uint32_t harmless_bits = 0;  ///< of bad_pixels, that do not make a pixel bad
  std::string mask_file = {};
  std::string background_file = {};
  NegativeCounts negative_counts = NegativeCounts::refuse;
  Links links = Links::beside;
};

/// Width in which patterns are kept. Other number types are converted to f32 (exact to 16.7 million
/// counts).
enum class PatternType { u8, u16, u32, f32 };
std::size_t size_of(PatternType type);

/// What is known of a scan before its patterns are read.
struct ScanInfo {
  const ScanFormat* format = nullptr;  ///< that reads it
  int n_positions = 0;
  std::vector<int> raster;  ///< (rows, columns) if the patterns are 4-D
  geometry::DetectorFrame frame;
  Shape2 pattern;  ///< frame.pattern
  /// The file's; wider if sums of pixels need it.
  PatternType type = PatternType::f32;
  /// Scan positions (rows, columns) that share a chunk of the file; (n, 1) for 3-D patterns.
  Shape2 positions_per_chunk{1, 1};
  bool is_deflated = false;       ///< the file's chunks are compressed by gzip
  bool is_virtual = false;        ///< the patterns lie in other files that this one refers to
  std::vector<Vec2> positions_m;  ///< empty if the source names none
  /// 1 image, zero frequency at [0, 0]: pixels that were recorded, all of whose recorded pixels are
  /// trusted in every pattern, unless it has a mask of its own.
  ImageStack<std::uint8_t> valid_pixels;
  bool has_own_masks = false;  ///< the source's mask is one for each pattern
  bool has_flashes = false;    ///< which are ignored, each in its pattern
  /// Pixels of a pattern with as many counts or more are ignored: the greatest value of `type` if
  /// patterns have saturated pixels, flashes or masks of their own.
  double saturation = std::numeric_limits<double>::infinity();
  /// Counts in a pattern, 1 image, zero frequency at [0, 0]; empty if the source names none.
  ImageStack<double> background;

  /// Valid pixels.
  std::int64_t n_trusted() const { return std::count(valid_pixels.begin(), valid_pixels.end(), 1); }
};

/// What a rank reads and decodes at a time, if a chunk of the file is not larger: enough for any
/// file system, and its memory is touched for the first time but once.
inline constexpr std::int64_t pattern_piece_bytes = 16 << 20;

/// Rank 0 reads, all ranks receive. Collective.
/// @throws AgreedError: missing file or dataset, wrong rank or shape, other count of positions, not
/// finite, mask empty, a crop, bin or padding that does not fit
ScanInfo read_scan_info(const ScanSource& source, const comm::Communicator& comm);

/// Recorded detector images (n, h, w) of this name: their mean, cut, binned and padded as the
/// patterns, 0 where a pixel is not valid. By this rank alone.
/// @return counts, (1, h, w), zero frequency at [0, 0]
/// @throws InputError: none of this name, wrong shape, a valid pixel negative or not finite
ImageStack<double> read_detector_image(const ScanSource& source, const ScanInfo& info,
                                       const std::string& name);

/// The scan file's probe of this name, (mode, h, w). By this rank alone. @throws InputError
WaveStack read_start_probe(const ScanSource& source, const ScanInfo& info, const std::string& name);

/// The same of another file, HDF5 or NumPy, which need no names. @throws InputError
WaveStack read_probe_file(const std::string& path, const std::string& name);

/// Takes patterns of this rank, one after another, (h, w) each, counts, zero frequency at [0, 0],
/// in their own width; `places` says where in `positions` each belongs. The memory is the reader's.
using TakePatterns = std::function<void(std::span<const int> places, const std::byte* patterns)>;

/// A pattern's counts and their centre of mass, pixels from the zero frequency, (y, x).
struct PatternMoments {
  double counts = 0;
  Vec2 centre_px;
};

/// Of some scan positions.
struct MomentsOfPositions {
  std::vector<int> positions;
  std::vector<PatternMoments> moments;
};

/// By scan position, zeros where no rank has any. Collective.
std::vector<PatternMoments> moments_of_all(const MomentsOfPositions& here, int n_positions,
                                           const comm::Communicator& comm);

/// What was found on the way, without pixels that are not valid or ignored; the same on all ranks
/// but for bytes_read and moments.
struct PatternTotals {
  std::vector<int> all_zero;  ///< scan positions without a single count; ascending
  // Of the patterns not held out:
  MomentsOfPositions moments;  ///< of those that this rank has read
  double total_counts = 0;
  ImageStack<double> sum;        ///< (1, h, w)
  ImageStack<double> roots;      ///< of the counts' square roots, (1, h, w)
  ImageStack<double> n_ignored;  ///< patterns with counts that ignore this pixel, (1, h, w)
  std::int64_t bytes_read = 0;   ///< pattern bytes this rank read from the file, decompressed
};

/// Every rank reads a contiguous share of the file's chunks and sends each pattern to the rank that
/// owns its position, about `piece_bytes` (at least one chunk) at a time. Here, once, patterns are
/// cut, binned, padded and shifted to zero frequency at [0, 0]; pixels that are not valid become 0,
/// those to be ignored in one pattern become `info.saturation`. Collective, also for ranks without
/// positions.
/// @param owner rank that owns a scan position; asked for those that this rank reads
/// @param positions scan positions of this rank, ascending
/// @param take gets the patterns of `positions`, some at a time; empty, on all ranks alike: they
/// are looked at and sent nowhere
/// @param before_piece called by every rank before each piece that it reads; what it throws
/// anywhere ends the reading everywhere
/// @throws AgreedError: a chunk that cannot be read; a valid pixel that is negative or not finite,
/// naming the position; nothing but zeros
PatternTotals read_patterns(const ScanSource& source, const ScanInfo& info,
                            const std::function<int(int)>& owner, std::span<const int> positions,
                            const comm::Communicator& comm, const TakePatterns& take,
                            std::int64_t piece_bytes = pattern_piece_bytes,
                            const std::function<void()>& before_piece = {});

/// Chosen patterns of a scan, read by this rank alone, any number of times: for scans that are
/// larger than all memory.
class PatternFile {
 public:
  /// @param max_patterns in one read
  /// @throws InputError
  PatternFile(const ScanSource& source, const ScanInfo& info, int max_patterns);
  ~PatternFile();

  /// The patterns of `positions` in their order, as read_patterns hands them on. What they need of
  /// a chunk of the file is decoded once. Allocates nothing of ours.
  /// @throws InputError naming file and position: a part that cannot be read, a file that became
  /// shorter, a pattern whose counts are gone
  void read(std::span<const int> positions, std::byte* patterns);

 private:
  struct Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace tessera::io
