#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"
#include "tessera/io/scan_reader.hpp"

#include "pattern_exchange.hpp"
#include "scan_chunks.hpp"
#include "zero_frequency.hpp"

namespace tessera::io {
namespace {

ElementType element_type(PatternType type) {
  switch (type) {
    case PatternType::u8:
      return ElementType::u8;
    case PatternType::u16:
      return ElementType::u16;
    case PatternType::u32:
      return ElementType::u32;
    case PatternType::f32:
      break;
  }
  return ElementType::f32;
}

/// Calls `work` with a value of the type that patterns are kept in.
template <class Work>
void with_type(PatternType type, Work&& work) {
  switch (type) {
    case PatternType::u8:
      return work(std::uint8_t{});
    case PatternType::u16:
      return work(std::uint16_t{});
    case PatternType::u32:
      return work(std::uint32_t{});
    case PatternType::f32:
      return work(float{});
  }
}

/// A virtual dataset opens other files while it is read, which not all ranks do at once: no MPI-IO.
File open_patterns(const ScanSource& source, const ScanInfo& info, const comm::Communicator& comm) {
  if (!info.is_virtual) return File::open(source.path, comm);
  std::unique_ptr<File> file;
  comm.together([&] { file = std::make_unique<File>(File::open(source.path)); });
  return std::move(*file);
}

/// Reads and prepares this rank's share, piece by piece, and keeps the books on it.
class PieceReader {
 public:
  PieceReader(const ScanSource& source, const ScanInfo& info, Shape2 scan, const File& file)
      : source_(source),
        info_(info),
        scan_(scan),
        file_(file),
        pattern_bytes_(static_cast<std::size_t>(info.pattern.size()) * size_of(info.type)),
        element_bytes_(file.info(source.patterns).element_bytes),
        in_file_(pattern_bytes_) {}

  /// The patterns of `boxes`, checked and shifted.
  const std::byte* read(const std::vector<Box>& boxes) {
    std::size_t n_patterns = 0;
    for (const Box& box : boxes) n_patterns += static_cast<std::size_t>(box.area());
    piece_.resize(n_patterns * pattern_bytes_);
    std::byte* next = piece_.data();
    for (const Box& box : boxes) {
      read_box(box, next);
      next += static_cast<std::size_t>(box.area()) * pattern_bytes_;
    }
    next = piece_.data();
    for_each_position(boxes, scan_, [&](int position) {
      prepare(position, next);
      next += pattern_bytes_;
    });
    return piece_.data();
  }

  std::size_t pattern_bytes() const { return pattern_bytes_; }
  const std::vector<int>& all_zero() const { return all_zero_; }
  double total_counts() const { return total_counts_; }
  std::int64_t bytes_read() const { return bytes_read_; }

 private:
  // By this rank alone: ranks read different numbers of boxes, and if one cannot inflate a chunk
  // the others must not be left inside a collective read. Shares are contiguous, so little is lost.
  void read_box(const Box& box, std::byte* values) {
    Extents begin{box.begin.y, box.begin.x, 0, 0};
    Extents count{box.height(), box.width(), info_.pattern.h, info_.pattern.w};
    if (info_.raster.empty()) {
      begin.erase(begin.begin() + 1);
      count.erase(count.begin() + 1);
    }
    file_.read_slab_alone(source_.patterns, begin, count, element_type(info_.type), values);
    bytes_read_ += box.area() * info_.pattern.size() * element_bytes_;
  }

  void prepare(int position, std::byte* pattern) {
    with_type(info_.type, [&](auto zero) {
      using T = decltype(zero);
      T* values = reinterpret_cast<T*>(pattern);
      if (source_.zero_frequency_centred) {
        std::memcpy(in_file_.data(), pattern, pattern_bytes_);
        corner_from_centre(reinterpret_cast<const T*>(in_file_.data()), values, info_.pattern);
      }
      const double counts = count_valid(position, values);
      total_counts_ += counts;
      if (counts == 0) all_zero_.push_back(position);
    });
  }

  /// Zeroes the other pixels: what a bad pixel holds, even NaN, must not reach the arithmetic.
  template <class T>
  double count_valid(int position, T* values) const {
    const std::uint8_t* valid = info_.valid_pixels.data();
    double sum = 0;
    for (std::int64_t i = 0; i < info_.pattern.size(); ++i) {
      if (!valid[i]) values[i] = 0;
      if constexpr (std::is_floating_point_v<T>)
        if (!std::isfinite(values[i]) || values[i] < 0) refuse(position, i, values[i]);
      sum += static_cast<double>(values[i]);
    }
    return sum;
  }

  [[noreturn]] void refuse(int position, std::int64_t pixel, double value) const {
    int y = static_cast<int>(pixel / info_.pattern.w);
    int x = static_cast<int>(pixel % info_.pattern.w);
    if (source_.zero_frequency_centred) {
      y = centred_index(y, info_.pattern.h);
      x = centred_index(x, info_.pattern.w);
    }
    throw InputError(text("data.patterns = \"", source_.patterns, "\": scan position ", position,
                          " holds ", value, " at pixel (", y, ", ", x,
                          "); counts must be finite and not negative. Mark bad pixels in "
                          "data.valid_pixels"));
  }

  const ScanSource& source_;
  const ScanInfo& info_;
  Shape2 scan_;
  const File& file_;
  std::size_t pattern_bytes_;
  std::int64_t element_bytes_;
  std::vector<std::byte> in_file_;  ///< one pattern before its shift
  std::vector<std::byte> piece_;
  std::vector<int> all_zero_;
  double total_counts_ = 0;
  std::int64_t bytes_read_ = 0;
};

/// Who sends what in one round. Every rank works it out for itself: the shares are known to all.
PatternRoutes routes_of_round(const ScanChunks& chunks, int round, int per_round,
                              std::span<const int> owner, std::span<const int> positions,
                              const comm::Communicator& comm) {
  const auto n_ranks = static_cast<std::size_t>(comm.size());
  PatternRoutes routes{std::vector<std::vector<int>>(n_ranks),
                       std::vector<std::vector<int>>(n_ranks)};
  for (int reader = 0; reader < comm.size(); ++reader) {
    const ChunkRange share = chunks.share(reader, comm.size());
    int place_in_piece = 0;
    for_each_position(
        chunks.boxes(ScanChunks::piece(share, round, per_round)), chunks.scan, [&](int position) {
          if (reader == comm.rank()) routes.send[owner[position]].push_back(place_in_piece++);
          if (owner[position] != comm.rank()) return;
          const auto found = std::lower_bound(positions.begin(), positions.end(), position);
          routes.receive[reader].push_back(static_cast<int>(found - positions.begin()));
        });
  }
  return routes;
}

/// Wrong owners would send patterns past the end of somebody's memory.
void check_owners(std::span<const int> owner, std::span<const int> positions, int n_positions,
                  const comm::Communicator& comm) {
  bool right = static_cast<int>(owner.size()) == n_positions;
  std::size_t next = 0;
  for (std::size_t p = 0; right && p < owner.size(); ++p) {
    right = owner[p] >= 0 && owner[p] < comm.size();
    if (owner[p] != comm.rank()) continue;
    right = right && next < positions.size() && positions[next] == static_cast<int>(p);
    ++next;
  }
  if (!right || next != positions.size())
    throw SystemError("the positions of this rank are not those that it owns, in ascending order");
}

int n_chunks_per_round(const ScanChunks& chunks, std::size_t pattern_bytes,
                       std::int64_t piece_bytes) {
  const auto chunk_bytes = chunks.per_chunk.size() * static_cast<std::int64_t>(pattern_bytes);
  return static_cast<int>(std::clamp<std::int64_t>(piece_bytes / chunk_bytes, 1, chunks.count()));
}

void agree_on_totals(const PieceReader& reader, const ScanSource& source, LocalPatterns& patterns,
                     const comm::Communicator& comm) {
  patterns.total_counts = reader.total_counts();
  comm.sum(std::span(&patterns.total_counts, 1));
  patterns.all_zero = comm.all_gather(std::span(reader.all_zero()));
  std::sort(patterns.all_zero.begin(), patterns.all_zero.end());
  if (patterns.total_counts == 0)
    throw AgreedError(ExitCode::bad_input,
                      text("data.patterns = \"", source.patterns, "\" of \"", source.path,
                           "\" holds nothing but zeros (in valid pixels)"));
}

}  // namespace

LocalPatterns read_patterns(const ScanSource& source, const ScanInfo& info,
                            std::span<const int> owner, std::span<const int> positions,
                            const comm::Communicator& comm, std::int64_t piece_bytes) {
  comm.together([&] { check_owners(owner, positions, info.n_positions, comm); });
  const Shape2 scan =
      info.raster.empty() ? Shape2{info.n_positions, 1} : Shape2{info.raster[0], info.raster[1]};
  const ScanChunks chunks{scan, info.positions_per_chunk};
  const File file = open_patterns(source, info, comm);
  std::unique_ptr<PieceReader> reader;
  comm.together([&] { reader = std::make_unique<PieceReader>(source, info, scan, file); });

  LocalPatterns patterns;
  patterns.type = info.type;
  comm.together([&] { patterns.values.resize(positions.size() * reader->pattern_bytes()); });
  const int per_round = n_chunks_per_round(chunks, reader->pattern_bytes(), piece_bytes);
  const int largest_share = (chunks.count() + comm.size() - 1) / comm.size();
  const ChunkRange share = chunks.share(comm.rank(), comm.size());
  for (int round = 0; round * static_cast<std::int64_t>(per_round) < largest_share; ++round) {
    const std::byte* piece = nullptr;
    comm.together(
        [&] { piece = reader->read(chunks.boxes(ScanChunks::piece(share, round, per_round))); });
    const PatternRoutes routes = routes_of_round(chunks, round, per_round, owner, positions, comm);
    send_to_owners(piece, patterns.values.data(), routes, reader->pattern_bytes(), comm);
  }
  agree_on_totals(*reader, source, patterns, comm);
  patterns.bytes_read = reader->bytes_read();
  return patterns;
}

}  // namespace tessera::io
