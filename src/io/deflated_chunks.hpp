#pragma once
/// Chunks of an HDF5 dataset that gzip has compressed. HDF5 inflates them one after another by
/// zlib; here libdeflate does, several at a time (docs/decisions/0025-inflating-by-threads.md).

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hdf5_handle.hpp"

namespace tessera::io {

class DeflatedChunks {
 public:
  static constexpr std::size_t max_axes = 8;
  using Index = std::array<hsize_t, max_axes>;

  /// Nothing where HDF5 has to read: other layouts and filters, values that are to be converted,
  /// chunks that are too large to have several.
  static std::unique_ptr<DeflatedChunks> find(hid_t dataset, hid_t memory_type);
  ~DeflatedChunks();

  /// A hyperslab that lies inside the dataset. What it needs of a single chunk stays for the next
  /// time. Allocates nothing but threads, where there is much.
  /// @return whether `values` hold it; false: HDF5 shall read it, or say what is wrong
  bool read(std::span<const hsize_t> begin, std::span<const hsize_t> count, void* values);

 private:
  class Inflater;
  struct Slab {
    std::span<const hsize_t> begin;
    std::span<const hsize_t> count;
    std::byte* values;
  };
  struct Stored {
    Index first;          ///< of the chunk's values
    std::size_t begin;    ///< in packed_
    std::size_t n_bytes;  ///< there
  };

  DeflatedChunks(hid_t dataset, std::span<const hsize_t> chunk, std::size_t value_bytes,
                 bool is_shuffled);
  bool has_room() const;
  std::size_t most_packed_bytes() const;
  bool read_one(const Index& first, const Slab& slab);
  bool fetch(const Index& first);
  bool inflate_fetched(const Slab& slab);
  void copy_common(const Index& first, const std::byte* chunk, const Slab& slab) const;

  hid_t dataset_;
  Index chunk_{};
  std::size_t n_axes_;
  std::size_t value_bytes_;
  std::size_t chunk_bytes_;
  std::vector<std::unique_ptr<Inflater>> inflaters_;  ///< one for each thread
  std::vector<std::byte> packed_;                     ///< as the file has them
  std::vector<Stored> fetched_;
  Index kept_{};                            ///< the chunk that is in
  const std::byte* kept_values_ = nullptr;  ///< the first inflater; null: none
};

}  // namespace tessera::io
