// Streamed patterns are those that stay on the device, whatever the order and wherever they come
// from.
#include <random>

#include <gtest/gtest.h>

#include "tessera/physics/pattern_store.hpp"

namespace tessera::physics::pattern_store_tests {
namespace {

constexpr int n_positions = 11;
constexpr int max_in_chunk = 3;

/// What pixel i of a position holds, in every type.
int encoded(int position, int i) {
  return 20 * position + i;
}

/// Positions of every chunk of some passes, and the order on host and device. Position 4 is left
/// out, as a pattern without counts would be.
struct Visits {
  explicit Visits(const device::DeviceView<int*>& device_order) : on_device(device_order) {
    for (int position = 0; position < n_positions; ++position)
      if (position != 4) order.push_back(position);
    shuffle(1);
  }
  void shuffle(unsigned seed) {
    std::mt19937 random(seed);
    std::shuffle(order.begin(), order.end(), random);
    const auto host = Kokkos::create_mirror_view(on_device);
    std::copy(order.begin(), order.end(), host.data());
    Kokkos::deep_copy(on_device, host);
  }
  std::vector<int> order;
  device::DeviceView<int*> on_device;
  /// Not in the order in which they lie.
  const std::vector<Chunk> chunks{{6, 1}, {0, 3}, {7, 3}, {3, 2}, {5, 1}};
};

template <class T>
struct StreamOf : public ::testing::Test {
  StreamOf() : all_(n_positions * window_.size()), order_("order", n_positions), visits_(order_) {
    for (int position = 0; position < n_positions; ++position)
      for (int i = 0; i < window_.size(); ++i)
        all_[static_cast<std::size_t>(position * window_.size() + i)] =
            static_cast<T>(encoded(position, i));
  }

  std::unique_ptr<PatternSource> pinned() {
    device::PinnedBuffer patterns(all_.size() * sizeof(T));
    std::copy(all_.begin(), all_.end(), reinterpret_cast<T*>(patterns.data()));
    return std::make_unique<PinnedPatterns>(std::move(patterns), bytes_, order_);
  }
  std::unique_ptr<PatternSource> file() {
    const auto read = [this](std::span<const int> positions, std::byte* patterns) {
      ++n_reads_;
      auto* to = reinterpret_cast<T*>(patterns);
      for (const int position : positions)
        to = std::copy_n(all_.begin() + position * window_.size(), window_.size(), to);
    };
    return std::make_unique<FilePatterns>(read, bytes_, max_in_chunk);
  }

  /// Pixels of `chunk` that are not what they must be, found on the device.
  int n_wrong(const ChunkPatterns& found, const Chunk& chunk) const {
    const auto values = std::get<device::DeviceView<T***>>(found.values);
    EXPECT_TRUE(found.packed);
    EXPECT_EQ(static_cast<int>(values.extent(0)), chunk.count);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
    int wrong = 0;
    for (int j = 0; j < chunk.count; ++j)
      for (int i = 0; i < window_.size(); ++i)
        if (host(j, i / window_.w, i % window_.w) !=
            static_cast<T>(encoded(visits_.order[static_cast<std::size_t>(chunk.begin + j)], i)))
          ++wrong;
    return wrong;
  }

  void expect_right_passes(std::unique_ptr<PatternSource> source, bool repeats) {
    StreamedPatterns store(device::DeviceView<T***>(), window_, max_in_chunk, std::move(source));
    for (unsigned pass = 0; pass < 3; ++pass) {
      if (!repeats) visits_.shuffle(pass + 7);
      store.begin_pass(exec_, {visits_.chunks, visits_.order, repeats});
      for (const Chunk& chunk : visits_.chunks) {
        EXPECT_EQ(n_wrong(store.at(exec_, chunk), chunk), 0);
        EXPECT_EQ(n_wrong(store.at(exec_, chunk), chunk), 0) << "asked for twice";
      }
    }
  }

  const device::Device exec_{};
  const Shape2 window_{3, 5};
  const std::size_t bytes_ = static_cast<std::size_t>(window_.size()) * sizeof(T);
  std::vector<T> all_;
  device::DeviceView<int*> order_;
  Visits visits_;
  int n_reads_ = 0;
};

using Types = ::testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, float>;
TYPED_TEST_SUITE(StreamOf, Types);

TYPED_TEST(StreamOf, PinnedMemoryIsRightWhetherOrNotThePassesRepeat) {
  this->expect_right_passes(this->pinned(), true);
  this->expect_right_passes(this->pinned(), false);
}

TYPED_TEST(StreamOf, AFileIsRightAndReadOncePerChunk) {
  this->expect_right_passes(this->file(), true);
  EXPECT_EQ(this->n_reads_, 15);
  this->expect_right_passes(this->file(), false);
}

TYPED_TEST(StreamOf, ChunksComeInTheOrderOfThePassOnly) {
  StreamedPatterns store(device::DeviceView<TypeParam***>(), this->window_, max_in_chunk,
                         this->pinned());
  const Pass pass{this->visits_.chunks, this->visits_.order, true};
  store.begin_pass(this->exec_, pass);
  EXPECT_THROW(store.at(this->exec_, this->visits_.chunks[1]), std::logic_error);
  store.at(this->exec_, this->visits_.chunks[0]);
  EXPECT_THROW(store.at(this->exec_, this->visits_.chunks[2]), std::logic_error);
}

}  // namespace
}  // namespace tessera::physics::pattern_store_tests
