#pragma once
/// Reading a scan: what it is (metadata, on all ranks), then its patterns, each byte once, each to
/// its owner.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/box.hpp"
#include "tessera/base/image_stack.hpp"
#include "tessera/comm/communicator.hpp"

namespace tessera::io {

/// Which datasets hold the scan.
struct ScanSource {
  std::string path;
  std::string patterns;
  std::optional<std::string> positions;     ///< (position, 2), metres, (y, x)
  std::optional<std::string> valid_pixels;  ///< (y, x), 1 = trust
  bool zero_frequency_centred = true;
  std::vector<bool> held_out = {};  ///< by position: left out of the totals' sums; empty: none
};

/// Width in which patterns are kept. Other number types are converted to f32 (exact to 16.7 million
/// counts).
enum class PatternType { u8, u16, u32, f32 };
std::size_t size_of(PatternType type);

/// What is known of a scan before its patterns are read.
struct ScanInfo {
  int n_positions = 0;
  std::vector<int> raster;  ///< (rows, columns) if the patterns are 4-D
  Shape2 pattern;
  PatternType type = PatternType::f32;
  /// Scan positions (rows, columns) that share a chunk of the file; (n, 1) for 3-D patterns.
  Shape2 positions_per_chunk{1, 1};
  bool is_virtual = false;        ///< the patterns lie in other files that this one refers to
  std::vector<Vec2> positions_m;  ///< empty if the source names none
  /// 1 image, zero frequency at [0, 0]; all 1 if the source names none.
  ImageStack<std::uint8_t> valid_pixels;
};

/// What a rank reads and decodes at a time, if a chunk of the file is not larger.
inline constexpr std::int64_t pattern_piece_bytes = 64 << 20;

/// Rank 0 reads, all ranks receive. Collective.
/// @throws AgreedError: missing file or dataset, wrong rank or shape, other count of positions, not
/// finite, mask empty
ScanInfo read_scan_info(const ScanSource& source, const comm::Communicator& comm);

/// Takes patterns of this rank, one after another, (h, w) each, counts, zero frequency at [0, 0],
/// in their own width; `places` says where in `positions` each belongs. The memory is the reader's.
using TakePatterns = std::function<void(std::span<const int> places, const std::byte* patterns)>;

/// What was found on the way; the same on all ranks but for bytes_read.
struct PatternTotals {
  std::vector<int> all_zero;    ///< scan positions without a single count; ascending
  double total_counts = 0;      ///< sum over the valid pixels of all patterns not held out
  ImageStack<double> sum;       ///< of these patterns, (1, h, w)
  std::int64_t bytes_read = 0;  ///< pattern bytes this rank read from the file, decompressed
};

/// Every rank reads a contiguous share of the file's chunks and sends each pattern to the rank that
/// owns its position, about `piece_bytes` (at least one chunk) at a time. Here, once, patterns are
/// shifted to zero frequency at [0, 0] and pixels that are not valid become 0. Collective, also for
/// ranks without positions.
/// @param owner rank that owns each scan position
/// @param positions scan positions of this rank, ascending
/// @param take gets the patterns of `positions`, some at a time; empty, on all ranks alike: they
/// are looked at and sent nowhere
/// @throws AgreedError: a chunk that cannot be read; a valid pixel that is negative or not finite,
/// naming the position; nothing but zeros
PatternTotals read_patterns(const ScanSource& source, const ScanInfo& info,
                            std::span<const int> owner, std::span<const int> positions,
                            const comm::Communicator& comm, const TakePatterns& take,
                            std::int64_t piece_bytes = pattern_piece_bytes);

/// Chosen patterns of a scan, read by this rank alone, any number of times: for scans that are
/// larger than all memory.
class PatternFile {
 public:
  /// @param most_patterns in one read
  /// @throws InputError
  PatternFile(const ScanSource& source, const ScanInfo& info, int most_patterns);
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
