#pragma once
/// Reading a scan: what it is (metadata, on all ranks), then its patterns, each byte once, each to
/// its owner.

#include <cstddef>
#include <cstdint>
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

/// Rank 0 reads, all ranks receive. Collective.
/// @throws AgreedError: missing file or dataset, wrong rank or shape, other count of positions, not
/// finite, mask empty
ScanInfo read_scan_info(const ScanSource& source, const comm::Communicator& comm);

/// This rank's patterns, (positions.size(), h, w), counts, zero frequency at [0, 0], in their own
/// width.
struct LocalPatterns {
  PatternType type = PatternType::f32;
  std::vector<std::byte> values;
  std::vector<int> all_zero;    ///< scan positions, of all ranks, without a single count; ascending
  double total_counts = 0;      ///< sum over the valid pixels of all patterns of all ranks
  std::int64_t bytes_read = 0;  ///< pattern bytes this rank read from the file, decompressed
};

/// Every rank reads a contiguous share of the file's chunks and sends each pattern to the rank that
/// owns its position, about `piece_bytes` (at least one chunk) at a time. Here, once, patterns are
/// shifted to zero frequency at [0, 0] and pixels that are not valid become 0. Collective, also for
/// ranks without positions.
/// @param owner rank that owns each scan position
/// @param positions scan positions of this rank, ascending
/// @throws AgreedError: a chunk that cannot be read; a valid pixel that is negative or not finite,
/// naming the position; nothing but zeros
LocalPatterns read_patterns(const ScanSource& source, const ScanInfo& info,
                            std::span<const int> owner, std::span<const int> positions,
                            const comm::Communicator& comm, std::int64_t piece_bytes = 64 << 20);

}  // namespace tessera::io
