#include "tessera/physics/pattern_store.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "device/free_memory.hpp"

namespace tessera::physics {

Patterns patterns_at(const Patterns& like, void* data, int n, Shape2 window) {
  return std::visit(
      [&](const auto& view) -> Patterns {
        using View = std::decay_t<decltype(view)>;
        return View(static_cast<typename View::value_type*>(data), static_cast<std::size_t>(n),
                    static_cast<std::size_t>(window.h), static_cast<std::size_t>(window.w));
      },
      like);
}

std::size_t pattern_bytes(const Patterns& like, Shape2 window) {
  return std::visit(
      [&](const auto& view) {
        return static_cast<std::size_t>(window.size()) *
               sizeof(typename std::decay_t<decltype(view)>::value_type);
      },
      like);
}

StreamedPatterns::StreamedPatterns(const Patterns& like, Shape2 window, int max_in_chunk,
                                   std::unique_ptr<PatternSource> source)
    : like_(like), window_(window), source_(std::move(source)) {
  const std::size_t n_bytes = static_cast<std::size_t>(max_in_chunk) * pattern_bytes(like, window);
  for (Buffer& buffer : buffers_)
    buffer.bytes = device::DeviceView<std::uint8_t*>(
        Kokkos::view_alloc("tessera::physics::chunk_patterns", Kokkos::WithoutInitializing),
        n_bytes);
}

void StreamedPatterns::begin_pass(const device::Device& exec, const Pass& pass) {
  pass_ = pass;
  n_asked_ = 0;
  source_->begin_pass(pass);
  if (!pass.chunks.empty()) fetch(exec, 0);
}

ChunkPatterns StreamedPatterns::at(const device::Device& exec, const Chunk& chunk) {
  const auto is = [&](std::size_t i) {
    return i < pass_.chunks.size() && pass_.chunks[i].begin == chunk.begin &&
           pass_.chunks[i].count == chunk.count;
  };
  if (n_asked_ == 0 || !is(n_asked_ - 1)) {
    if (!is(n_asked_)) throw std::logic_error("patterns of a chunk that is not the pass' next one");
    if (n_asked_ + 1 < pass_.chunks.size()) fetch(exec, n_asked_ + 1);
    ++n_asked_;
  }
  const Buffer& present = buffers_[(n_asked_ - 1) % 2];
  present.arrived.hold(exec);
  return {patterns_at(like_, present.bytes.data(), chunk.count, window_), true};
}

void StreamedPatterns::fetch(const device::Device& exec, std::size_t i) {
  // All that reads the buffer's last contents has been started on `exec` by now.
  unused_.record(exec);
  unused_.hold(stream_);
  Buffer& buffer = buffers_[i % 2];
  source_->fetch(stream_, pass_.chunks[i], reinterpret_cast<std::byte*>(buffer.bytes.data()));
  buffer.arrived.record(stream_);
}

PinnedPatterns::PinnedPatterns(device::PinnedBuffer patterns, std::size_t pattern_bytes,
                               device::DeviceView<int*> order)
    : patterns_(std::move(patterns)),
      pattern_bytes_(pattern_bytes),
      order_(std::move(order)),
      position_at_(pattern_bytes == 0 ? 0 : patterns_.n_bytes() / pattern_bytes) {
  std::iota(position_at_.begin(), position_at_.end(), 0);
}

void PinnedPatterns::begin_pass(const Pass& pass) {
  if (pass.repeats && !is_sorted_into(pass.order)) sort_into(pass.order);
  if (!pass.repeats && sorted_) sort_into({});
  sorted_ = pass.repeats;
}

bool PinnedPatterns::is_sorted_into(std::span<const int> order) const {
  return std::equal(order.begin(), order.end(), position_at_.begin());
}

void PinnedPatterns::fetch(const device::Stream& stream, const Chunk& chunk, std::byte* to) {
  if (sorted_)
    device::copy_async(stream, to,
                       patterns_.data() + static_cast<std::size_t>(chunk.begin) * pattern_bytes_,
                       static_cast<std::size_t>(chunk.count) * pattern_bytes_);
  else
    device::gather_async(stream, to, patterns_.data(), order_.data() + chunk.begin, chunk.count,
                         pattern_bytes_);
}

/// Pattern order[k] moves to place k, in place, along the cycles of the permutation. Patterns that
/// no pass visits take the places behind.
void PinnedPatterns::sort_into(std::span<const int> order) {
  const std::size_t n = position_at_.size();
  std::vector<int> wanted(order.begin(), order.end());
  std::vector<bool> visited(n, false);
  for (const int position : order) visited[static_cast<std::size_t>(position)] = true;
  for (std::size_t position = 0; position < n; ++position)
    if (!visited[position]) wanted.push_back(static_cast<int>(position));
  std::vector<int> place_of(n);
  for (std::size_t place = 0; place < n; ++place)
    place_of[static_cast<std::size_t>(position_at_[place])] = static_cast<int>(place);
  std::vector<int> from;
  from.reserve(wanted.size());
  for (const int position : wanted) from.push_back(place_of[static_cast<std::size_t>(position)]);
  position_at_ = wanted;

  const auto at = [&](std::size_t place) { return patterns_.data() + place * pattern_bytes_; };
  std::vector<std::byte> first(pattern_bytes_);
  std::vector<bool> moved(n, false);
  for (std::size_t begin = 0; begin < n; ++begin) {
    if (moved[begin]) continue;
    std::memcpy(first.data(), at(begin), pattern_bytes_);
    std::size_t place = begin;
    for (auto next = static_cast<std::size_t>(from[place]); next != begin;
         place = next, next = static_cast<std::size_t>(from[place])) {
      std::memcpy(at(place), at(next), pattern_bytes_);
      moved[place] = true;
    }
    std::memcpy(at(place), first.data(), pattern_bytes_);
    moved[place] = true;
  }
}

FilePatterns::FilePatterns(Read read, std::size_t pattern_bytes, int max_in_chunk)
    : read_(std::move(read)), pattern_bytes_(pattern_bytes) {
  for (Buffer& buffer : buffers_)
    buffer.patterns = device::PinnedBuffer(static_cast<std::size_t>(max_in_chunk) * pattern_bytes);
}

void FilePatterns::fetch(const device::Stream& stream, const Chunk& chunk, std::byte* to) {
  Buffer& buffer = buffers_[n_fetched_++ % 2];
  buffer.copied.wait();
  const auto count = static_cast<std::size_t>(chunk.count);
  read_(order_.subspan(static_cast<std::size_t>(chunk.begin), count), buffer.patterns.data());
  device::copy_async(stream, to, buffer.patterns.data(), count * pattern_bytes_);
  buffer.copied.record(stream);
}

}  // namespace tessera::physics
