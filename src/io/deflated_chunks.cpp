#include "deflated_chunks.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#include <libdeflate.h>

#include "decoding_threads.hpp"

namespace tessera::io {
namespace {

/// Room of all inflaters, and of what is fetched at a time.
constexpr std::size_t room_bytes = inflating_bytes / 2;
constexpr std::size_t most_fetched = 4096;

H5Z_filter_t filter_at(hid_t plist, int i) {
  unsigned flags = 0;
  std::size_t n_values = 0;
  return H5Pget_filter2(plist, static_cast<unsigned>(i), &flags, &n_values, nullptr, 0, nullptr,
                        nullptr);
}

/// Of deflate alone, or behind shuffle: whether values are shuffled. Nothing of other filters.
std::optional<bool> shuffles(hid_t plist) {
  const int n = H5Pget_nfilters(plist);
  if (n < 1 || n > 2 || filter_at(plist, n - 1) != H5Z_FILTER_DEFLATE) return {};
  if (n == 2 && filter_at(plist, 0) != H5Z_FILTER_SHUFFLE) return {};
  return n == 2;
}

using Index = DeflatedChunks::Index;

/// To the next of a box, in steps, the last axis first. @return false: it was the last
bool advance(Index& at, const Index& begin, const Index& end, const Index& step,
             std::size_t n_axes) {
  for (std::size_t axis = n_axes; axis-- > 0;) {
    at[axis] += step[axis];
    if (at[axis] < end[axis]) return true;
    at[axis] = begin[axis];
  }
  return false;
}

constexpr Index single_values{1, 1, 1, 1, 1, 1, 1, 1};

/// Whether it has values, and no more than there is room for: a damaged file may say anything.
bool is_sound(std::span<const hsize_t> chunk) {
  std::size_t n_values = 1;
  return std::ranges::all_of(chunk, [&](hsize_t size) {
    return size > 0 && !__builtin_mul_overflow(n_values, size, &n_values) && n_values <= room_bytes;
  });
}

/// From all first bytes, all second bytes ... to one value after another.
template <std::size_t value_bytes>
void unshuffle(const std::byte* from, std::size_t n, std::byte* to) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t b = 0; b < value_bytes; ++b) to[i * value_bytes + b] = from[b * n + i];
}

void unshuffle(const std::byte* from, std::size_t n, std::size_t value_bytes, std::byte* to) {
  switch (value_bytes) {
    case 2:
      return unshuffle<2>(from, n, to);
    case 4:
      return unshuffle<4>(from, n, to);
    case 8:
      return unshuffle<8>(from, n, to);
    default:
      std::copy_n(from, n * value_bytes, to);  // shuffle leaves single bytes as they are
  }
}

}  // namespace

/// One thread's.
class DeflatedChunks::Inflater {
 public:
  Inflater(std::size_t chunk_bytes, std::size_t value_bytes, bool is_shuffled)
      : value_bytes_(value_bytes), values_(chunk_bytes), shuffled_(is_shuffled ? chunk_bytes : 0) {}
  ~Inflater() { libdeflate_free_decompressor(decompressor_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// @return a chunk's values, until the next; null: the bytes are damaged
  const std::byte* inflate(const std::byte* packed, std::size_t n_bytes) {
    std::vector<std::byte>& to = shuffled_.empty() ? values_ : shuffled_;
    std::size_t n_inflated = 0;
    const libdeflate_result result = libdeflate_zlib_decompress(decompressor_, packed, n_bytes,
                                                                to.data(), to.size(), &n_inflated);
    if (result != LIBDEFLATE_SUCCESS || n_inflated != to.size()) return nullptr;
    if (!shuffled_.empty())
      unshuffle(shuffled_.data(), values_.size() / value_bytes_, value_bytes_, values_.data());
    return values_.data();
  }

 private:
  libdeflate_decompressor* decompressor_ = libdeflate_alloc_decompressor();
  std::size_t value_bytes_;
  std::vector<std::byte> values_;
  std::vector<std::byte> shuffled_;
};

std::unique_ptr<DeflatedChunks> DeflatedChunks::find(hid_t dataset, hid_t memory_type) {
  const Hid plist = checked(H5Dget_create_plist(dataset), H5Pclose, "reading a dataset's layout");
  const Hid type = checked(H5Dget_type(dataset), H5Tclose, "reading a dataset's type");
  Index chunk{};
  if (H5Pget_layout(plist) != H5D_CHUNKED || H5Tequal(type, memory_type) <= 0) return {};
  const int n_axes = H5Pget_chunk(plist, static_cast<int>(max_axes), chunk.data());
  const std::optional<bool> is_shuffled = shuffles(plist);
  if (n_axes < 1 || n_axes > static_cast<int>(max_axes) || !is_shuffled) return {};
  if (!is_sound({chunk.data(), static_cast<std::size_t>(n_axes)})) return {};
  std::unique_ptr<DeflatedChunks> found(new DeflatedChunks(
      dataset, {chunk.data(), static_cast<std::size_t>(n_axes)}, H5Tget_size(type), *is_shuffled));
  return found->inflaters_.empty() ? nullptr : std::move(found);
}

DeflatedChunks::DeflatedChunks(hid_t dataset, std::span<const hsize_t> chunk,
                               std::size_t value_bytes, bool is_shuffled)
    : dataset_(dataset),
      n_axes_(chunk.size()),
      value_bytes_(value_bytes),
      chunk_bytes_(value_bytes) {
  std::ranges::copy(chunk, chunk_.begin());
  for (const hsize_t size : chunk) chunk_bytes_ *= size;
  if (most_packed_bytes() > room_bytes) return;
  const std::size_t n = room_bytes / (chunk_bytes_ * (is_shuffled ? 2 : 1));
  for (std::size_t i = 0; i < std::min<std::size_t>(n, processors()); ++i)
    inflaters_.push_back(std::make_unique<Inflater>(chunk_bytes_, value_bytes, is_shuffled));
  packed_.reserve(room_bytes);
  fetched_.reserve(most_fetched);
}

DeflatedChunks::~DeflatedChunks() = default;

bool DeflatedChunks::read(std::span<const hsize_t> begin, std::span<const hsize_t> count,
                          void* values) {
  if (begin.size() != n_axes_) return false;
  const Slab slab{begin, count, static_cast<std::byte*>(values)};
  Index first{};
  Index end{};
  for (std::size_t axis = 0; axis < n_axes_; ++axis) {
    first[axis] = begin[axis] / chunk_[axis] * chunk_[axis];
    end[axis] = begin[axis] + count[axis];
  }
  fetched_.clear();
  packed_.clear();
  Index chunk = first;
  const bool is_one = !advance(chunk, first, end, chunk_, n_axes_);
  if (is_one) return read_one(first, slab);
  kept_values_ = nullptr;
  chunk = first;
  do {
    if (!has_room() && !inflate_fetched(slab)) return false;
    if (!fetch(chunk)) return false;
  } while (advance(chunk, first, end, chunk_, n_axes_));
  return inflate_fetched(slab);
}

bool DeflatedChunks::has_room() const {
  return fetched_.size() < most_fetched && packed_.size() + most_packed_bytes() <= room_bytes;
}

/// What does not shrink grows a little.
std::size_t DeflatedChunks::most_packed_bytes() const {
  return chunk_bytes_ + chunk_bytes_ / 64 + 64;
}

bool DeflatedChunks::read_one(const Index& first, const Slab& slab) {
  if (!kept_values_ || kept_ != first) {
    kept_values_ = nullptr;
    if (!fetch(first)) return false;
    kept_ = first;
    kept_values_ = inflaters_.front()->inflate(packed_.data(), packed_.size());
  }
  if (kept_values_) copy_common(first, kept_values_, slab);
  return kept_values_ != nullptr;
}

/// As the file has it.
bool DeflatedChunks::fetch(const Index& first) {
  hsize_t n_bytes = 0;
  if (H5Dget_chunk_storage_size(dataset_, first.data(), &n_bytes) < 0 || n_bytes == 0 ||
      n_bytes > most_packed_bytes())
    return false;
  fetched_.push_back({first, packed_.size(), n_bytes});
  packed_.resize(packed_.size() + n_bytes);
  std::uint32_t skipped_filters = 0;
  return H5Dread_chunk(dataset_, H5P_DEFAULT, first.data(), &skipped_filters,
                       packed_.data() + fetched_.back().begin) >= 0 &&
         skipped_filters == 0;
}

bool DeflatedChunks::inflate_fetched(const Slab& slab) {
  std::atomic<bool> all_sound = true;
  const bool is_shared = fetched_.size() * chunk_bytes_ >= least_shared_bytes;
  share_work(fetched_.size(), is_shared ? inflaters_.size() : 1,
             [&](std::size_t thread, std::size_t i) {
               const Stored& stored = fetched_[i];
               const std::byte* chunk =
                   inflaters_[thread]->inflate(packed_.data() + stored.begin, stored.n_bytes);
               if (chunk)
                 copy_common(stored.first, chunk, slab);
               else
                 all_sound = false;
             });
  fetched_.clear();
  packed_.clear();
  return all_sound;
}

/// What slab and chunk have in common, row by row.
void DeflatedChunks::copy_common(const Index& first, const std::byte* chunk,
                                 const Slab& slab) const {
  Index begin{};
  Index end{};
  for (std::size_t axis = 0; axis < n_axes_; ++axis) {
    begin[axis] = std::max(first[axis], slab.begin[axis]);
    end[axis] = std::min(first[axis] + chunk_[axis], slab.begin[axis] + slab.count[axis]);
  }
  const std::size_t last = n_axes_ - 1;
  const std::size_t row_bytes = (end[last] - begin[last]) * value_bytes_;
  Index at = begin;
  do {
    std::size_t from = 0;
    std::size_t to = 0;
    for (std::size_t axis = 0; axis < n_axes_; ++axis) {
      from = from * chunk_[axis] + at[axis] - first[axis];
      to = to * slab.count[axis] + at[axis] - slab.begin[axis];
    }
    std::memcpy(slab.values + to * value_bytes_, chunk + from * value_bytes_, row_bytes);
  } while (advance(at, begin, end, single_values, last));
}

}  // namespace tessera::io
