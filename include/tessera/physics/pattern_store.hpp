#pragma once
/// Where a rank's patterns are during the run, and how those of a chunk come to the device.

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tessera/device/device.hpp"
#include "tessera/device/stream.hpp"
#include "tessera/physics/scan_tile.hpp"

namespace tessera::physics {

/// `n` patterns at `data`, of the type that `like` holds; does not own them.
Patterns patterns_at(const Patterns& like, void* data, int n, Shape2 window);
/// Bytes of one pattern of that type.
std::size_t pattern_bytes(const Patterns& like, Shape2 window);

/// The pattern of the chunk's j-th position is values(j) if they are packed, else
/// values(order(begin + j)).
struct ChunkPatterns {
  Patterns values;
  bool packed = false;
};

/// One pass over the positions. What it refers to stays until the next pass.
struct Pass {
  std::span<const Chunk> chunks;  ///< in the order in which they will be asked for
  std::span<const int> order;     ///< ScanTile::order, on the host
  bool repeats = false;           ///< `order` is the same in every pass
};

class PatternStore {
 public:
  virtual ~PatternStore() = default;
  /// Says which chunks come next. ScanTile::order must have been started on its way on `exec`.
  virtual void begin_pass(const device::Device& exec, const Pass& pass) = 0;
  /// The patterns of the pass' next chunk, or once more of the present one. Work that is started on
  /// `exec` sees them until the next chunk is asked for.
  virtual ChunkPatterns at(const device::Device& exec, const Chunk& chunk) = 0;
  /// True if patterns stay where they are, so that a device::Graph can record what reads them.
  virtual bool stays() const { return false; }
};

/// All patterns stay on the device; chunks may be asked for in any order.
class ResidentPatterns final : public PatternStore {
 public:
  explicit ResidentPatterns(Patterns patterns) : patterns_(std::move(patterns)) {}
  void begin_pass(const device::Device&, const Pass&) override {}
  ChunkPatterns at(const device::Device&, const Chunk&) override { return {patterns_, false}; }
  bool stays() const override { return true; }
  const Patterns& patterns() const { return patterns_; }

 private:
  Patterns patterns_;
};

/// Brings the patterns of a chunk to the device.
class PatternSource {
 public:
  virtual ~PatternSource() = default;
  virtual void begin_pass(const Pass& pass) = 0;
  /// Start moving the patterns of `chunk`, packed, to device memory, behind what `stream` holds.
  virtual void fetch(const device::Stream& stream, const Chunk& chunk, std::byte* to) = 0;
};

/// Two chunks of patterns on the device: while one is in use the next is on its way, on a stream of
/// its own.
class StreamedPatterns final : public PatternStore {
 public:
  /// @param like says the type
  /// @param max_in_chunk positions
  StreamedPatterns(const Patterns& like, Shape2 window, int max_in_chunk,
                   std::unique_ptr<PatternSource> source);
  void begin_pass(const device::Device& exec, const Pass& pass) override;
  /// @throws std::logic_error if `chunk` is not the next one; whatever the source throws
  ChunkPatterns at(const device::Device& exec, const Chunk& chunk) override;

 private:
  struct Buffer {
    device::DeviceView<std::uint8_t*> bytes;
    device::Event arrived;
  };
  void fetch(const device::Device& exec, std::size_t i);

  Patterns like_;
  Shape2 window_;
  std::unique_ptr<PatternSource> source_;
  device::Stream stream_;
  device::Event unused_;  ///< kernels that read the buffer that is filled next have ended
  std::array<Buffer, 2> buffers_;
  Pass pass_;
  std::size_t n_asked_ = 0;
};

/// All patterns in pinned host memory, by local position. Where passes repeat, the first one of an
/// order sorts them into it, so that a chunk is one copy.
class PinnedPatterns final : public PatternSource {
 public:
  /// @param patterns of all local positions
  /// @param order ScanTile::order
  PinnedPatterns(device::PinnedBuffer patterns, std::size_t pattern_bytes,
                 device::DeviceView<int*> order);
  void begin_pass(const Pass& pass) override;
  void fetch(const device::Stream& stream, const Chunk& chunk, std::byte* to) override;

 private:
  bool is_sorted_into(std::span<const int> order) const;
  void sort_into(std::span<const int> order);

  device::PinnedBuffer patterns_;
  std::size_t pattern_bytes_;
  device::DeviceView<int*> order_;
  std::vector<int> position_at_;  ///< local position whose pattern is at each place
  bool sorted_ = false;           ///< into an order; else every pattern is at its own place
};

/// Patterns in a file: each chunk is read when it is fetched, by the calling thread, while the
/// device computes an earlier one.
class FilePatterns final : public PatternSource {
 public:
  /// Writes the patterns of local positions to host memory, in the order given.
  using Read = std::function<void(std::span<const int> positions, std::byte* patterns)>;
  FilePatterns(Read read, std::size_t pattern_bytes, int max_in_chunk);
  void begin_pass(const Pass& pass) override { order_ = pass.order; }
  void fetch(const device::Stream& stream, const Chunk& chunk, std::byte* to) override;

 private:
  struct Buffer {
    device::PinnedBuffer patterns;
    device::Event copied;
  };
  Read read_;
  std::size_t pattern_bytes_;
  std::span<const int> order_;
  std::array<Buffer, 2> buffers_;
  std::size_t n_fetched_ = 0;
};

}  // namespace tessera::physics
